package sandbox

const unsupported = "on Windows commands are limited, by a job object, but not confined"

// userDirs is empty: the variables that name the user's directories are kept.
func userDirs() map[string]string { return map[string]string{} }
