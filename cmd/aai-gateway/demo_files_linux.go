package main

import "embed"

// demoFiles are a web page, and how the demo's screen looks.
//
//go:embed demo
var demoFiles embed.FS

func demoFile(name string) []byte {
	b, err := demoFiles.ReadFile("demo/" + name)
	if err != nil {
		panic(err) // it is compiled in
	}
	return b
}
