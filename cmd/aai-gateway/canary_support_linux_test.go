package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// canary is a secret to search for. It begins with a core of letters and digits, which are the
// same in URLs and JSON, so that a part of it, or a mixture of encodings, is found as well.
type canary string

func (c canary) core() string { return string(c[:len("cAnArY00xy")]) }

// form is an encoding of a text by some program.
type form struct {
	name  string
	texts []string
}

// forms returns the possible encodings of a text.
func forms(text string) []form {
	var percent, utf string
	for _, b := range []byte(text) {
		percent += fmt.Sprintf("%%%02x", b)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		utf += fmt.Sprintf(`\u%04x`, unit)
	}
	upper := strings.NewReplacer("A", "A", "a", "A", "b", "B", "c", "C", "d", "D", "e", "E", "f", "F")
	var loose bytes.Buffer
	encoder := json.NewEncoder(&loose)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text)
	strict, _ := json.Marshal(text)
	inside := func(quoted string) string { return strings.Trim(strings.TrimSpace(quoted), `"`) }
	asJSON := inside(loose.String())
	return []form{
		{"plain", []string{text}},
		{"base64", base64s(text)},
		{"hex", []string{hex.EncodeToString([]byte(text)), strings.ToUpper(hex.EncodeToString([]byte(text)))}},
		{"URL", []string{url.QueryEscape(text), url.PathEscape(text), percent, upper.Replace(percent)}},
		{"JSON", []string{
			asJSON, inside(string(strict)), strings.ReplaceAll(asJSON, "/", `\/`), strings.ReplaceAll(strings.ReplaceAll(asJSON, `\`, `\\`), `"`, `\"`),
			inside(strconv.QuoteToASCII(text)), utf, strings.ReplaceAll(upper.Replace(utf), `\U`, `\u`),
		}},
	}
}

// base64s returns the parts of a longer text's base64 that the text produces at each of the three
// offsets.
func base64s(text string) (found []string) {
	for before := range 3 {
		all := append(make([]byte, before), text...)
		whole := len(all) / 3 * 3
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			// The first group also has bits of the preceding text.
			found = append(found, encoding.EncodeToString(all[:whole])[(before+2)/3*4:])
		}
	}
	return found
}

// canaryForm is one encoding of a canary.
type canaryForm struct {
	of   canary
	form string
	text []byte
}

func canaryForms(canaries []canary) (all []canaryForm) {
	for _, c := range canaries {
		for _, text := range []string{c.core(), string(c)} {
			for _, f := range forms(text) {
				for _, written := range f.texts {
					all = append(all, canaryForm{c, f.name, []byte(written)})
				}
			}
		}
	}
	return all
}

// hits returns the canaries in a text, each with the first encoding found.
func hits(all []canaryForm, text []byte) (found []string) {
	seen := map[canary]bool{}
	for _, n := range all {
		if at := bytes.Index(text, n.text); at >= 0 && !seen[n.of] {
			seen[n.of] = true
			around := text[max(0, at-80):min(len(text), at+len(n.text)+80)]
			found = append(found, fmt.Sprintf("%s in %s: …%q…", n.of.core(), n.form, around))
		}
	}
	return found
}

// outputTrail is the output of the program: standard output, standard error, responses to an
// agent.
type outputTrail struct {
	mu      sync.Mutex
	outputs []programOutput
}

type programOutput struct{ where, text string }

func (l *outputTrail) add(where, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outputs = append(l.outputs, programOutput{where, text})
}

// expectNoCanary searches the trail, and the content and name of every file in the folder.
func (l *outputTrail) expectNoCanary(t *testing.T, folder string, canaries []canary) {
	t.Helper()
	all := canaryForms(canaries)
	report := func(where string, text []byte) {
		for _, hit := range hits(all, text) {
			t.Errorf("%s holds %s", where, hit)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.outputs {
		report(s.where, []byte(s.text))
	}
	files := eachFile(t, folder, func(path string, text []byte) {
		report("the name of "+path, []byte(path))
		report(path, text)
	})
	assert.Assert(t, files != 0)
	assert.Assert(t, len(l.outputs) != 0)
}

// TestCanariesAreFound: the search finds a canary in every encoding, and in a file of the folder.
func TestCanariesAreFound(t *testing.T) {
	const c = canary(`cAnArY01xy/+"ü`)
	all := canaryForms([]canary{c, `cAnArY02xy/+"ü`})
	for text, form := range map[string]string{
		`x ` + string(c) + ` y`:   "plain",
		`Bearer cAnArY01xy…`:      "plain", // cut
		`"cAnArY01xy/+\"ü"`:       "plain",
		`"cAnArY01xy\/+\"\u00fc"`: "plain",
		`\u0063\u0041\u006e\u0041\u0072\u0059\u0030\u0031\u0078\u0079\u002f\u002b\u0022\u00fc`: "JSON",
		`\u0063\u0041\u006E\u0041\u0072\u0059\u0030\u0031\u0078\u0079`:                         "JSON",
		`q=cAnArY01xy%2F%2B%22%C3%BC&x`:                                                        "plain",
		`q=%63%41%6E%41%72%59%30%31%78%79%2F%2B%22%C3%BC`:                                      "URL",
		`q=%63%41%6e%41%72%59%30%31%78%79%2f`:                                                  "URL",
		hex.EncodeToString([]byte("a" + c)):                                                    "hex",
		strings.ToUpper(hex.EncodeToString([]byte(c))):                                         "hex",
		base64.StdEncoding.EncodeToString([]byte(c)):                                           "base64",
		base64.StdEncoding.EncodeToString([]byte("u:" + c + ":p")):                             "base64",
		base64.URLEncoding.EncodeToString([]byte("user:" + c)):                                 "base64",
		base64.URLEncoding.EncodeToString([]byte("é" + c[:10])):                                "base64",
		base64.RawURLEncoding.EncodeToString([]byte("\xff\xff\xff\xff" + c + "\xff\xfe")):      "base64",
	} {
		found := hits(all, []byte("before "+text+" after"))
		assert.Assert(t, is.Contains(strings.Join(found, "\n"), "cAnArY01xy in "+form), "%s %q %s", text, found, form)
		assert.Assert(t, !strings.Contains(strings.Join(found, "\n"), "cAnArY02xy in"), "in %s was found %q, want %s", text, found, form)
	}
	found := hits(all, []byte("canary01xy cAnArY 01 cAnArY03xy [secret]"))
	assert.Check(t, found == nil, "found %q", found)
}

// site starts a site that records its requests.
func (w *canaryWorld) site(mux *http.ServeMux) string {
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		w.mu.Lock()
		fmt.Fprintln(&w.got, string(body), r.Header)
		w.mu.Unlock()
		mux.ServeHTTP(rw, r)
	}))
	w.t.Cleanup(site.Close)
	return site.URL
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// vault repeats the key in its responses, and in its refusals in every encoding.
func (w *canaryWorld) vault() string {
	mux := http.NewServeMux()
	mux.HandleFunc("/store", func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("X-Key")
		answerJSON(w, http.StatusOK, map[string]any{"stored": true, "said": "with " + key, "seen": key, "in": asJSON(map[string]any{"key": key}), "url": "/" + url.QueryEscape(key)})
	})
	mux.HandleFunc("/repeat", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var args map[string]any
		_ = json.Unmarshal(body, &args)
		answerJSON(w, http.StatusOK, map[string]any{"text": string(body), "value": args, "url": url.QueryEscape(string(body))})
	})
	mux.HandleFunc("/refuse", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var args map[string]any
		_ = json.Unmarshal(body, &args)
		if wanted, _ := args["note"].(string); wanted == "text" {
			http.Error(w, fmt.Sprint(r.Header.Get("X-Key"), " with ", args), http.StatusConflict)
			return
		}
		answerJSON(w, http.StatusUnprocessableEntity, map[string]any{
			"title": "no: " + string(body), "detail": r.Header.Get("X-Key") + " " + asJSON(r.Header) + url.QueryEscape(r.Header.Get("X-Key")) + args["password"].(string), "errors": url.QueryEscape(string(body)),
		})
	})
	return w.site(mux)
}

// shop repeats the token of the login.
func (w *canaryWorld) shop() string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		back := r.URL.Query()
		http.Redirect(w, r, back.Get("redirect_uri")+"?"+url.Values{"code": {string(loginCode)}, "state": {back.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusOK, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": renewal})
	})
	mux.HandleFunc("GET /orders", func(w http.ResponseWriter, r *http.Request) {
		answerJSON(w, http.StatusOK, map[string]any{"orders": []string{"one"}, "by": r.Header.Get("Authorization"), "in": url.QueryEscape(r.Header.Get("Authorization")), "all": asJSON(r.Header)})
	})
	mux.HandleFunc("GET /broken", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "broken for "+r.Header.Get("Authorization")+" ?t="+url.QueryEscape(r.Header.Get("Authorization")), http.StatusInternalServerError)
	})
	return w.site(mux)
}

// terminal returns both ends of a kernel terminal.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = person.Close() })
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	assert.NilError(t, errors.Join(err, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	assert.NilError(t, err)
	return person, program
}

// awaitHidden waits until the terminal's echo is off.
func awaitHidden(t *testing.T, person *os.File) {
	t.Helper()
	for {
		state, err := unix.IoctlGetTermios(int(person.Fd()), unix.TCGETS)
		assert.NilError(t, err)
		if state.Lflag&unix.ECHO == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
