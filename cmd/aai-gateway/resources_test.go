package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"testing"
	"unicode/utf16"

	"gotest.tools/v3/assert"
)

// TestWindowsResources compares the resources of the Windows program with the files that they are made of.
func TestWindowsResources(t *testing.T) {
	const files = "../../packaging/files/windows/"
	manifest, err := os.ReadFile(files + "aai-gateway.manifest")
	assert.NilError(t, err)
	text, err := os.ReadFile(files + "resources.json")
	assert.NilError(t, err)
	var resources struct {
		Version map[string]map[string]struct {
			Info map[string]map[string]string `json:"info"`
		} `json:"RT_VERSION"`
	}
	assert.NilError(t, json.Unmarshal(text, &resources))
	info := resources.Version["#1"]["0000"].Info["0409"]
	assert.Assert(t, len(info) > 0)
	for arch, machine := range map[string]uint16{"amd64": 0x8664, "arm64": 0xAA64} {
		object, err := os.ReadFile("resources_windows_" + arch + ".syso")
		assert.NilError(t, err)
		assert.Check(t, binary.LittleEndian.Uint16(object) == machine, arch)
		assert.Check(t, bytes.Contains(object, bytes.ReplaceAll(manifest, []byte("\r\n"), []byte("\n"))), "%s lacks the manifest; run scripts/make-resources", arch)
		for name, value := range info {
			wide, err := binary.Append(nil, binary.LittleEndian, utf16.Encode([]rune(value)))
			assert.NilError(t, err)
			assert.Check(t, bytes.Contains(object, wide), "%s lacks %s; run scripts/make-resources", arch, name)
		}
	}
}
