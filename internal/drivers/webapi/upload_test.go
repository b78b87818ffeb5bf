package webapi

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// written creates a file in a new folder.
func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// TestParts checks a body of several parts: fields, lists, objects, a file and a kept result.
func TestParts(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	config := fast(plainClient(t))
	config.KeptResult = func(_ context.Context, call string, _ aai.Caller) ([]byte, error) {
		return []byte(`{"call":"` + call + `"}`), nil
	}
	r := recipe(s.URL, http.MethodPost, "/", "note", "tags", "meta", "file", "kept")
	r.HTTP.Headers = map[string]string{"Content-Type": "multipart/form-data"}
	r.HTTP.Send = map[string]aai.SendRecipe{"file": {In: "body", File: true, Media: "image/x-own"}, "kept": {In: "body", Name: "data", File: true}}
	run(t, compile(t, New(config), r), map[string]any{
		"note": "a\r\nb", "tags": []any{"x", "y"}, "meta": map[string]any{"n": 1},
		"file": written(t, `pic "1".png`, "\x00picture"), "kept": "result:c-1",
	})
	got := s.last(t)
	_, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	assert.NilError(t, err)
	var parts []string
	reader := multipart.NewReader(strings.NewReader(got.body), params["boundary"])
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		assert.NilError(t, err)
		content, err := io.ReadAll(part)
		assert.NilError(t, err)
		parts = append(parts, part.FormName()+"|"+part.FileName()+"|"+part.Header.Get("Content-Type")+"|"+string(content))
	}
	want := "note|||a\r\nb\ntags|||x\ntags|||y\nmeta||application/json|{\"n\":1}\n" +
		"file|pic %221%22.png|image/x-own|\x00picture\ndata|result.json|application/json|{\"call\":\"c-1\"}"
	assert.Check(t, is.Equal(strings.Join(parts, "\n"), want))
}

// TestBodiesOfOtherTypes checks a body that is a file, and one that is a text.
func TestBodiesOfOtherTypes(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	for media, c := range map[string]struct {
		send  aai.SendRecipe
		value any
		want  string
	}{
		"application/octet-stream":          {aai.SendRecipe{In: "body", Whole: true, File: true}, written(t, "a.bin", "\x00\x01"), "\x00\x01"},
		"text/plain":                        {aai.SendRecipe{In: "body", Whole: true}, "zeile\nü", "zeile\nü"},
		"application/x-www-form-urlencoded": {aai.SendRecipe{In: "body", Whole: true}, map[string]any{"b": 2, "a": []any{"x", "&"}}, "a=x&a=%26&b=2"},
	} {
		r := recipe(s.URL, http.MethodPut, "/", "body")
		r.HTTP.Headers = map[string]string{"Content-Type": media}
		r.HTTP.Send = map[string]aai.SendRecipe{"body": c.send}
		run(t, compile(t, newDriver(t), r), map[string]any{"body": c.value})
		got := s.last(t)
		assert.Check(t, is.Equal(got.body, c.want), media)
		sent := got.Header.Get("Content-Type")
		assert.Check(t, is.Equal(sent, media), "%s is sent as %q", media, sent)
	}
}

// TestFilesThatAreNotSent checks that nothing is sent of files with credentials, of links and of
// paths that do not say which file they mean.
func TestFilesThatAreNotSent(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodPut, "/", "file")
	r.HTTP.Headers = map[string]string{"Content-Type": "application/octet-stream"}
	r.HTTP.Send = map[string]aai.SendRecipe{"file": {In: "body", Whole: true, File: true}}
	master := written(t, "master", "x")
	again := filepath.Join(filepath.Dir(master), "again")
	assert.NilError(t, os.Link(master, again))
	config := fast(plainClient(t))
	config.SecretFiles = []string{master}
	action := compile(t, New(config), r)
	plain := written(t, "plain.txt", "x")
	link := filepath.Join(t.TempDir(), "link.txt")
	assert.NilError(t, os.Symlink(plain, link))
	for path, want := range map[string]string{
		written(t, ".ssh/known_hosts", "x"):                                                   "passwords or keys",
		written(t, "ID_RSA", "x"):                                                             "passwords or keys",
		written(t, "server.pem", "x"):                                                         "passwords or keys",
		written(t, "project/.env", "x"):                                                       "passwords or keys",
		written(t, "note.txt", "-----BEGIN OPENSSH PRIVATE KEY-----\n"):                       "passwords or keys",
		written(t, "photo.jpg", strings.Repeat("x", 900)+"-----BEGIN RSA PRIVATE KEY-----\n"): "passwords or keys",
		written(t, "gshadow-", "x"):                                                           "passwords or keys",
		written(t, "gh/hosts.yml", "x"):                                                       "passwords or keys",
		master:                                                                                "passwords or keys",
		again:                                                                                 "passwords or keys",
		link:                                                                                  "is a link",
		filepath.Dir(plain) + "/./plain.txt":                                                  "absolute path",
		"plain.txt":                                                                           "absolute path",
		filepath.Dir(plain):                                                                   "cannot be read",
		"/proc/self/environ":                                                                  "is no file of the person",
		filepath.Join(filepath.Dir(plain), "none"):                                            "no such file",
		"result:c-1":                                                                          "no results are kept",
	} {
		e := fail(t, action, map[string]any{"file": path}, aai.InvalidParams, aai.NotDelivered)
		assert.Check(t, is.Contains(e.Message, want), path)
	}
	n := len(s.requests())
	assert.Check(t, is.Equal(n, 0), "%d requests were sent", n)
}

// TestFilesFromTheWeb checks that a descriptor from a site cannot ask for files.
func TestFilesFromTheWeb(t *testing.T) {
	r := recipe("https://api.example.com", http.MethodPut, "/", "file")
	r.HTTP.Origin = "https://example.com"
	r.HTTP.Headers = map[string]string{"Content-Type": "application/octet-stream"}
	r.HTTP.Send = map[string]aai.SendRecipe{"file": {In: "body", Whole: true, File: true}}
	_, err := newDriver(t).Compile(r)
	assert.Check(t, is.ErrorContains(err, "send.file.file"))
}

// TestFilesTogether checks that the files of one call have a limit together.
func TestFilesTogether(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodPost, "/", "files")
	r.HTTP.Headers = map[string]string{"Content-Type": "multipart/form-data"}
	r.HTTP.Send = map[string]aai.SendRecipe{"files": {In: "body", File: true}}
	path := written(t, "big.bin", "")
	assert.NilError(t, os.Truncate(path, 30<<20))
	e := fail(t, compile(t, newDriver(t), r), map[string]any{"files": []any{path, path, path, path}}, aai.InvalidParams, aai.NotDelivered)
	assert.Check(t, is.Contains(e.Message, "more than 100 MiB together"))
}

// TestMediaTypes checks that a media type cannot add a header to a part.
func TestMediaTypes(t *testing.T) {
	for _, media := range []string{"image/png\r\nX-Inj: 1", "image/png;a=\"b\nc\"", "png"} {
		r := recipe("https://api.example.com", http.MethodPost, "/", "file")
		r.HTTP.Headers = map[string]string{"Content-Type": "multipart/form-data"}
		r.HTTP.Send = map[string]aai.SendRecipe{"file": {In: "body", File: true, Media: media}}
		_, err := newDriver(t).Compile(r)
		assert.Check(t, is.ErrorContains(err, "send.file.media"), "%q", media)
	}
}
