package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"runtime/debug"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// sbom writes the components of a built program as CycloneDX. It has no time and no serial number,
// so that the same program gives the same list.
func sbom(binary, version, file string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	bom := newBOM(info, version)
	var out bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return write(file, out.Bytes())
}

func newBOM(info *debug.BuildInfo, version string) *cyclonedx.BOM {
	ref := func(path, version string) string { return "pkg:golang/" + path + "@" + version }
	self := cyclonedx.Component{
		BOMRef: program, Type: cyclonedx.ComponentTypeApplication, Name: program, Version: version,
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}
	var built []cyclonedx.Property
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" || s.Key == "-trimpath" {
			built = append(built, cyclonedx.Property{Name: "go:build:" + s.Key, Value: s.Value})
		}
	}
	self.Properties = &built

	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	parts := []cyclonedx.Component{{
		BOMRef: ref("std", goVersion), Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: goVersion, PackageURL: ref("std", goVersion),
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		part := cyclonedx.Component{
			BOMRef: ref(m.Path, m.Version), Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: ref(m.Path, m.Version),
		}
		if sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.Sum, "h1:")); err == nil && len(sum) > 0 {
			part.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
		}
		parts = append(parts, part)
	}
	refs := make([]string, len(parts))
	for i, p := range parts {
		refs[i] = p.BOMRef
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &self}
	bom.Components = &parts
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: program, Dependencies: &refs}}
	return bom
}
