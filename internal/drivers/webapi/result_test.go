package webapi

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"image"
	"image/png"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// answer returns the result of a GET with the given response.
func answer(t testing.TB, status int, contentType, body string) *aai.Result {
	t.Helper()
	s := serve(t, answers(status, contentType, body))
	result := run(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil)
	assert.Check(t, is.Equal(result.UntrustedSource, s.URL))
	return result
}

func TestJSONAnswer(t *testing.T) {
	const body = `{"z": 12345678901234567890.10, "a": ["x", true, null, {}], "ü": "1\u00e4 2"}`
	for _, contentType := range []string{"application/json", "application/json; charset=utf-8", "application/problem+json", "TEXT/JSON"} {
		result := answer(t, http.StatusOK, contentType, body)
		want := map[string]any{"z": json.Number("12345678901234567890.10"), "a": []any{"x", true, nil, map[string]any{}}, "ü": "1ä 2"}
		assert.Check(t, reflect.DeepEqual(result.Data, want), "%s %#v", contentType, result.Data)
		const text = "{\n  \"z\": 12345678901234567890.10,\n  \"a\": [\n    \"x\",\n    true,\n    null,\n    {}\n  ],\n  \"ü\": \"1ä 2\"\n}"
		assert.Check(t, is.Equal(result.Text, text), contentType)
		assert.Check(t, is.Equal(result.Warning, ""), contentType)
	}
	for body, want := range map[string]any{"7": json.Number("7"), `"x"`: "x", "true": true, "null": nil, "[]": []any{}, " {} \n": map[string]any{}} {
		result := answer(t, http.StatusCreated, "application/json", body)
		assert.Assert(t, reflect.DeepEqual(result.Data, want), "%s %#v", body, result)
		assert.Equal(t, result.Warning, "", "%s %#v", body, result)
	}
}

func TestOutputParser(t *testing.T) {
	for _, c := range []struct {
		parser, contentType, body string
		data                      any
		text                      string
	}{
		{"json", "text/html", `[1]`, []any{json.Number("1")}, "[\n  1\n]"},
		{"json", "", `"x"`, "x", `"x"`},
		{"string", "application/json", `{"a":  1}`, nil, `{"a":  1}`},
		{"string", "application/octet-stream", "words", nil, "words"},
	} {
		s := serve(t, answers(http.StatusOK, c.contentType, c.body))
		r := recipe(s.URL, http.MethodGet, "/")
		r.OutputParser = c.parser
		result := run(t, compile(t, newDriver(t), r), nil)
		assert.Assert(t, reflect.DeepEqual(result.Data, c.data), "%+v %#v", c, result)
		assert.Equal(t, result.Text, c.text, "%+v %#v", c, result)
	}
}

func TestTextAnswer(t *testing.T) {
	for _, c := range []struct{ contentType, body, want string }{
		{"text/plain", "two\r\nlines\tand ü", "two\nlines\tand ü"},
		{"text/plain; charset=iso-8859-1", "caf\xe9", "café"},
		{"text/plain; charset=Shift_JIS", "\x93\xfa\x96{", "日本"},
		{"text/html; charset=utf-16le", "h\x00i\x00", "hi"},
		{"text/plain", "\xef\xbb\xbfmark", "mark"},
		{"text/plain", "\xff\xfeh\x00i\x00", "hi"},
		{"text/plain", "caf\xe9 of old", "café of old"},
		{"text/plain; charset=utf-8", "caf\xe9 broken", "caf\uFFFD broken"},
		{"text/plain; charset=no-such-thing", "plain", "plain"},
		{"application/xml", "<a>1</a>", "<a>1</a>"},
		{"application/atom+xml", "<a/>", "<a/>"},
		{"image/svg+xml", "<svg/>", "<svg/>"},
		{"text/csv; header=present", "a,b\n1,2\n", "a,b\n1,2\n"},
		{"", "nobody says what this is", "nobody says what this is"},
		{"text/plain; charset=\"", "an unreadable type", "an unreadable type"},
	} {
		result := answer(t, http.StatusOK, c.contentType, c.body)
		assert.Equal(t, result.Text, c.want, "%s %q %+v", c.contentType, c.body, result)
		assert.Assert(t, result.Data == nil, "%s %q %+v", c.contentType, c.body, result)
		assert.Equal(t, result.Warning, "", "%s %q %+v", c.contentType, c.body, result)
	}
}

func TestPictureAnswer(t *testing.T) {
	var b bytes.Buffer
	assert.NilError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))))
	picture := b.String()
	result := answer(t, http.StatusOK, "image/png", picture)
	assert.Assert(t, is.Len(result.Images, 1), "%+v", result)
	assert.Equal(t, result.Images[0].MIME, "image/png", "%+v", result)
	assert.Equal(t, string(result.Images[0].Data), picture, "%+v", result)
	assert.Assert(t, result.Data == nil, "%+v", result)
	// An invalid picture, and one above the limit.
	for _, body := range []string{"<html>", picture + strings.Repeat("x", maxPicture)} {
		result := answer(t, http.StatusOK, "image/png", body)
		data, _ := result.Data.(map[string]any)
		assert.Assert(t, is.Len(result.Images, 0), "%.300v", result)
		assert.Equal(t, data["content_type"], "image/png", "%.300v", result)
		assert.Equal(t, data["size"], len(body), "%.300v", result)
	}
}

func TestOtherAnswer(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Disposition", `attachment; filename="../../etc/re\"port.pdf"`)
		_, _ = w.Write([]byte("%PDF-\x00"))
	})
	result := run(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil)
	want := map[string]any{"content_type": "application/pdf", "size": 6, "filename": `re"port.pdf`, "base64": "JVBERi0A"}
	assert.Assert(t, reflect.DeepEqual(result.Data, want), "%+v", result)
	assert.Equal(t, result.Text, `A file, application/pdf, 6 bytes, re"port.pdf.`, "%+v", result)
	large := answer(t, http.StatusOK, "application/zip", strings.Repeat("\x00", maxInline+1))
	data, _ := large.Data.(map[string]any)
	assert.Equal(t, data["size"], maxInline+1, "%+v", large)
	assert.Assert(t, data["base64"] == nil, "%+v", large)
	assert.Assert(t, is.Contains(large.Text, "is omitted"), "%+v", large)
	binary := answer(t, http.StatusOK, "text/plain", "\x00\x01\x02\x03")
	data, _ = binary.Data.(map[string]any)
	assert.Check(t, is.Equal(data["base64"], "AAECAw=="), "%+v", binary)
	assert.Check(t, is.Equal(data["content_type"], "text/plain"), "%+v", binary)
}

func TestEmptyAnswer(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusAccepted, http.StatusNoContent, http.StatusResetContent} {
		result := answer(t, status, "application/json", "")
		assert.Assert(t, result.Data == nil, "%d %+v", status, result)
		assert.Equal(t, result.Warning, "", "%d %+v", status, result)
		assert.Assert(t, is.Contains(result.Text, strconv.Itoa(status)), "%d %+v", status, result)
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/items/7")
		w.WriteHeader(http.StatusCreated)
	})
	result := run(t, compile(t, newDriver(t), recipe(s.URL, http.MethodPost, "/")), nil)
	assert.Assert(t, reflect.DeepEqual(result.Data, map[string]any{"location": "/items/7"}), "%+v", result)
	assert.Assert(t, is.Contains(result.Text, "/items/7"), "%+v", result)
}

func TestHead(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("Content-Length", "99999999999")
		w.Header().Set("ETag", `"7"`)
		w.Header().Set("Set-Cookie", "session=secret")
	})
	result := run(t, compile(t, newDriver(t), recipe(s.URL, http.MethodHead, "/")), nil)
	want := map[string]any{"status": 200, "headers": map[string]any{"content-type": "application/zip", "content-length": "99999999999", "etag": `"7"`}}
	assert.Assert(t, reflect.DeepEqual(result.Data, want), "%+v", result)
	assert.Assert(t, is.Contains(result.Text, "ETag: \"7\""), "%+v", result)
	assert.Assert(t, !strings.Contains(result.Text, "secret"), "%+v", result)
}

// A server may compress, also with codings that the client does not decode.
func TestCompressedAnswer(t *testing.T) {
	const text = "compressed, compressed and compressed"
	for _, coding := range []string{"gzip", "x-gzip", "deflate", "identity", ""} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			w.Header()["Content-Encoding"] = []string{coding}
			_, _ = w.Write(compress(coding, text))
		})
		client := plainClient(t)
		for _, byItself := range []bool{true, false} {
			client.Transport.(*http.Transport).DisableCompression = byItself
			result := run(t, compile(t, New(fast(client)), recipe(s.URL, http.MethodGet, "/")), nil)
			assert.Check(t, is.Equal(result.Text, text), "%s %+v", coding, result)
		}
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		_, _ = w.Write([]byte("\x0b\x02\x80hello\x03"))
	})
	e := fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil, aai.APIRequestFailed, aai.Delivered)
	assert.Check(t, is.Contains(e.Message, `"br"`))
}

func compress(coding, text string) []byte {
	var b bytes.Buffer
	switch coding {
	case "gzip", "x-gzip":
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
	case "deflate":
		w := zlib.NewWriter(&b)
		_, _ = w.Write([]byte(text))
		_ = w.Close()
	default:
		b.WriteString(text)
	}
	return b.Bytes()
}

// All texts of a response are cleaned.
func TestRow21ResultInjection(t *testing.T) {
	const hostile = "a\x1b[31mred\x1b[0m\u202eright\u200bzero\u2066\U000e0041tag\x00\u0085end"
	const clean = "a[31mred[0mrightzerotag end"
	// Text with a NUL would count as binary.
	assert.Check(t, is.Equal(answer(t, http.StatusOK, "text/plain; charset=utf-8", strings.ReplaceAll(hostile, "\x00", "")).Text, clean))
	escaped, err := json.Marshal(map[string]any{hostile: []any{hostile}})
	assert.NilError(t, err)
	result := answer(t, http.StatusOK, "application/json", string(escaped))
	assert.Check(t, reflect.DeepEqual(result.Data, map[string]any{clean: []any{clean}}), "JSON: got %q", result.Data)
	if slices.ContainsFunc([]rune(result.Text), func(r rune) bool { return r == 0x1b || r == 0x202e || r == 0x200b || r > 0xe0000 }) || strings.Contains(result.Text, `\u`) {
		t.Errorf("JSON's text: got %q", result.Text)
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename*=UTF-8''a%E2%80%AEgnp.exe`)
		w.Header().Set("Content-Type", "application/x-\u202eexe")
		_, _ = w.Write([]byte{0})
	})
	other := run(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil)
	assert.Assert(t, !strings.Contains(other.Text, "\u202e"), "file: got %q", other.Text)
	assert.Assert(t, is.Contains(other.Text, "agnp.exe"))
}
