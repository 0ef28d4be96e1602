package index

// Store keeps an index on the disk.
type Store struct{}

func (x *Index) restore() {}
func (x *Index) store()   {}
