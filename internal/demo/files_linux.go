package demo

import "embed"

// files are a web page, and the look of the demo's screen.
//
//go:embed files
var files embed.FS

func file(name string) []byte {
	b, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return b
}
