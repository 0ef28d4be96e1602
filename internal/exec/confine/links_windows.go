package confine

import box "github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/spec"

func onlyName(path string) bool { return box.Exists(path) }
