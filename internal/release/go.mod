module github.com/sidecar-ls/sidecar-ls/internal/release

go 1.26.5

require (
	github.com/spdx/tools-golang v0.5.7
	go.yaml.in/yaml/v4 v4.0.0
)

require github.com/anchore/go-struct-converter v0.1.0 // indirect
