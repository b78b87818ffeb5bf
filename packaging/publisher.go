package main

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed publisher.env
var publisherFile embed.FS

// publisher describes the publisher of the program and its addresses.
type publisher struct {
	homepage, repository, downloadURL string
	maintainer, name                  string // with and without an address
	registry, winget, npm             string // names of the program in those registries
}

// loadPublisher reads publisher.env, which shell scripts read too.
func loadPublisher() (*publisher, error) {
	file, err := publisherFile.ReadFile("publisher.env")
	if err != nil {
		return nil, err
	}
	return newPublisher(string(file))
}

func newPublisher(file string) (*publisher, error) {
	p := &publisher{}
	fields := map[string]*string{
		"AAI_HOMEPAGE": &p.homepage, "AAI_REPOSITORY": &p.repository, "AAI_DOWNLOADS": &p.downloadURL,
		"AAI_MAINTAINER": &p.maintainer, "AAI_PUBLISHER": &p.name,
		"AAI_REGISTRY_NAME": &p.registry, "AAI_WINGET": &p.winget, "AAI_NPM": &p.npm,
	}
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, _ := strings.Cut(line, "=")
		field, known := fields[name]
		if !known {
			return nil, fmt.Errorf("publisher.env: %q is not known", name)
		}
		*field = strings.Trim(value, "'")
	}
	for name, field := range fields {
		if *field == "" {
			return nil, fmt.Errorf("publisher.env: %s is missing", name)
		}
	}
	return p, nil
}

// url returns the download address of a version's file.
func (p *publisher) url(version, file string) string {
	return p.downloadURL + "/v" + version + "/" + file
}
