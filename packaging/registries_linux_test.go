package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// handshake starts a command as a client, checks its version and lists its tools.
func handshake(t *testing.T, cmd *exec.Cmd, version string) {
	t.Helper()
	home := t.TempDir()
	cmd.Env = append(cmd.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_RUNTIME_DIR="+home)
	var said bytes.Buffer
	cmd.Stderr = &said
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, said.String())
	}
	about := session.InitializeResult().ServerInfo
	assert.Check(t, is.Equal(about.Name, program), "%+v", about)
	assert.Check(t, is.Equal(about.Version, version), "%+v", about)
	tools, err := session.ListTools(t.Context(), nil)
	assert.NilError(t, err, "%+v", tools)
	assert.Assert(t, len(tools.Tools) != 0, "the tools are %+v, %v", tools, err)
	if err := session.Close(); err != nil {
		t.Errorf("the server ended with %v: %s", err, said.String())
	}
}

// The manifests for Homebrew, Scoop and winget, and for MCP's registry, which has a schema.
func TestManifests(t *testing.T) {
	r := newWorld(t).release(t)
	who := publisherOfTests(t)
	assert.NilError(t, writeManifests(r, who))
	assert.NilError(t, writeServerManifest(r, who))
	for _, name := range []string{
		"homebrew/aai-gateway.rb", "scoop/aai-gateway.json", "server.json",
		"winget/Example.AaiGateway.yaml", "winget/Example.AaiGateway.installer.yaml", "winget/Example.AaiGateway.locale.en-US.yaml",
	} {
		text, err := os.ReadFile(filepath.Join(r.dir, name))
		assert.NilError(t, err)
		golden(t, filepath.Base(name), text)
		assert.Check(t, !strings.HasSuffix(name, ".json") || json.Valid(text), "%s is not JSON", name)
	}
	text, err := os.ReadFile(filepath.Join(r.dir, "server.json"))
	assert.NilError(t, err)
	err = validateSchema(t, "server.schema.json", text)
	assert.Check(t, err, "server.json: %v", err)
	long := strings.Replace(string(text), summary, strings.Repeat("x", 101), 1)
	assert.Check(t, validateSchema(t, "server.schema.json", []byte(long)) != nil, "the schema lets a description of 101 characters pass: it judges nothing")

	r.files = r.files[:1]
	err = writeManifests(r, who)
	assert.Check(t, is.ErrorContains(err, "contains no Archive for linux/amd64"), "without archives: %v", err)
}

// A bundle contains all files in its manifest, and a client that follows the manifest reaches the
// server.
func TestBundles(t *testing.T) {
	r := newWorld(t).release(t)
	who := publisherOfTests(t)
	assert.NilError(t, writeBundles(r, who))
	for _, to := range targets() {
		file := filepath.Join(r.dir, "mcpb", strings.Join([]string{program, version, to.os, to.arch}, "_")+".mcpb")
		z, err := zip.OpenReader(file)
		assert.NilError(t, err)
		text := entry(t, &z.Reader, "manifest.json")
		assert.Check(t, validateSchema(t, "node_modules/@anthropic-ai/mcpb/schemas/mcpb-manifest-v0.3.schema.json", text), file)
		var m bundleManifest
		assert.NilError(t, json.Unmarshal(text, &m))
		entry(t, &z.Reader, m.Server.Entry)
		entry(t, &z.Reader, m.Icon)
		if to == here() {
			golden(t, "manifest.json", text)
			unpacked := t.TempDir()
			for _, f := range z.File {
				assert.NilError(t, write(filepath.Join(unpacked, f.Name), entry(t, &z.Reader, f.Name)))
				assert.NilError(t, os.Chmod(filepath.Join(unpacked, f.Name), f.Mode().Perm()))
			}
			command := strings.ReplaceAll(m.Server.Config.Command, "${__dirname}", unpacked)
			handshake(t, exec.CommandContext(t.Context(), command, m.Server.Config.Args...), version)
		}
		_ = z.Close()
	}
	first, err := os.ReadFile(filepath.Join(r.dir, "mcpb", "aai-gateway_1.2.3_windows_arm64.mcpb"))
	assert.NilError(t, err)
	assert.NilError(t, writeBundles(r, who))
	second, err := os.ReadFile(filepath.Join(r.dir, "mcpb", "aai-gateway_1.2.3_windows_arm64.mcpb"))
	assert.NilError(t, err)
	assert.Assert(t, bytes.Equal(first, second), "a bundle made again differs (%v)", err)
}

func entry(t *testing.T, z *zip.Reader, name string) []byte {
	t.Helper()
	f, err := z.Open(name)
	assert.NilError(t, err)
	defer f.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(f)
	assert.NilError(t, err)
	return text
}

// readRelease reads goreleaser's output.
func TestReadRelease(t *testing.T) {
	dir := t.TempDir()
	if _, err := readRelease(dir); err == nil {
		t.Error("an empty folder is a release")
	}
	for name, text := range map[string]string{
		"metadata.json": `{"project_name":"aai-gateway","version":"1.2.3"}`,
		"artifacts.json": `[{"name":"aai-gateway","path":"dist/x/aai-gateway","goos":"linux","goarch":"amd64","type":"Binary","extra":{"Binary":"aai-gateway"}},
			{"name":"a.tar.gz","path":"dist/a.tar.gz","goos":"linux","goarch":"amd64","type":"Archive","extra":{"Checksum":"sha256:ab"}}]`,
	} {
		assert.NilError(t, write(filepath.Join(dir, name), []byte(text)))
	}
	r, err := readRelease(dir)
	assert.NilError(t, err)
	got, err := r.archive(publisherOfTests(t), target{"linux", "amd64"})
	want := (archive{"https://example.org/aai-gateway/releases/download/v1.2.3/a.tar.gz", "ab"})
	assert.NilError(t, err)
	assert.Equal(t, got, want)
	_, err = r.find("Binary", target{"plan9", "amd64"})
	assert.Check(t, err != nil, "a file is found that is not there")
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"unknown"}, {"share"}, {"sbom", "a", "b"}, {"shelves", "a", "b"}} {
		var said bytes.Buffer
		code := run(args, &said)
		assert.Check(t, is.Equal(code, 2), "%q", args)
		assert.Check(t, is.Contains(said.String(), "usage:"), "%q", args)
	}
	var said bytes.Buffer
	code := run([]string{"shelves", t.TempDir()}, &said)
	assert.Check(t, is.Equal(code, 1))
	assert.Check(t, is.Contains(said.String(), "packaging shelves:"))
}

// npm runs npm in a separate home with only one registry.
func npm(ctx context.Context, home, registry, tool string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = home
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "npm_config_cache=" + filepath.Join(home, "cache"), "npm_config_registry=" + registry,
		"npm_config_audit=false", "npm_config_fund=false", "npm_config_update_notifier=false", "npm_config_prefix=" + filepath.Join(home, "prefix"),
	}
	return cmd
}
