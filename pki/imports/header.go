package imports

import "path"

// header finds the file that an #include names: beside the one that has it, or
// from a directory above it or an include directory there. What a build adds to
// that is not known.
func (r *Resolver) header(dir, name string) string {
	for ; ; dir = path.Dir(dir) {
		for _, file := range []string{path.Join(dir, name), path.Join(dir, "include", name)} {
			if r.tree.IsFile(file) {
				return file
			}
		}
		if dir == "." || dir == "/" {
			return ""
		}
	}
}
