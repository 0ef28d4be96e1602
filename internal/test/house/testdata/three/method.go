package three

func (t T) method() int { return t.field }
