package netguard_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// clientForNames makes a client for which each of the names is this computer, trusted at
// the port of the site.
func clientForNames(t *testing.T, s *site, names ...string) (c *netguard.Client, port string) {
	t.Helper()
	port = s.host()[strings.LastIndexByte(s.host(), ':'):]
	config := netguard.Config{RootCAs: s.roots(), Resolver: newNameServer(t, "127.0.0.1").resolver()}
	for _, name := range names {
		config.AllowPrivate = append(config.AllowPrivate, name+port)
	}
	return newClient(t, config), port
}

// Facts, row 4: where a redirect may lead.
func TestRow4Redirects(t *testing.T) {
	var location func(path, port string) string
	var port string
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		to := location(r.URL.Path, port)
		if to == "" {
			_, _ = io.WriteString(w, "here")
			return
		}
		if to != "nowhere" {
			w.Header().Set("Location", to)
		}
		w.WriteHeader(http.StatusFound)
	})
	c, port := clientForNames(t, s, "example.com", "www.example.com", "example.org")
	once := func(to string) func(string, string) string {
		return func(path, port string) string {
			if path == "/doc" {
				return strings.ReplaceAll(to, "PORT", port)
			}
			return ""
		}
	}
	hops := func(n int) func(string, string) string {
		return func(path, _ string) string {
			if len(path) < len("/doc")+n {
				return path + "x"
			}
			return ""
		}
	}
	for _, test := range []struct {
		name     string
		location func(path, port string) string
		ok       bool
	}{
		{"none", hops(0), true},
		{"relative", once("/elsewhere"), true},
		{"three hops", hops(3), true},
		{"four hops", hops(4), false},
		{"sub-domain", once("https://www.example.comPORT/x"), true},
		{"without scheme", once("//www.example.comPORT/x"), true},
		{"with fragment", once("/x#fragment"), true},
		{"to http", once("http://example.comPORT/x"), false},
		{"to another site", once("https://example.orgPORT/x"), false},
		{"to metadata", once("https://169.254.169.254/latest/meta-data"), false},
		{"to metadata by name", once("https://169.254.169.254.example.com/x"), false},
		{"to loopback", once("https://127.0.0.1PORT/x"), false},
		{"to another port", once("https://www.example.com:22/x"), false},
		{"to a name that is not trusted", once("https://intranet.example.comPORT/x"), false},
		{"with a password", once("https://user:pass@www.example.comPORT/x"), false},
		{"to a script", once("javascript:alert(1)"), false},
		{"to a file", once("file:///etc/passwd"), false},
		{"to nowhere", once("nowhere"), false},
		{"round and round", func(string, string) string { return "/doc" }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			location = test.location
			before := s.asked.Load()
			got, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: "https://example.com" + port + "/doc"})
			switch {
			case test.ok && (err != nil || got.Status != 200 || string(got.Body) != "here"):
				t.Errorf("got %+v, %v", got, err)
			case !test.ok && !netguard.IsRefused(err):
				t.Errorf("got %+v, %v", got, err)
			case !test.ok && aai.AsError(err).Message != "example.com"+port+" could not be reached":
				t.Errorf("message %q tells where it led", aai.AsError(err).Message)
			}
			n := s.asked.Load() - before
			assert.Check(t, n <= 4, "%d requests", n)
		})
	}
}

// Nor does one lead from https to http where http is allowed: on this computer.
func TestRedirectKeepsHTTPS(t *testing.T) {
	plain := newPlainSite(t)
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", plain.URL)
		w.WriteHeader(http.StatusFound)
	})
	c := newClient(t, netguard.Config{TrustLoopback: true, RootCAs: s.roots()})
	_, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: plain.URL})
	assert.NilError(t, err, "http by itself: %v", err)
	got, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: s.URL})
	assert.Check(t, netguard.IsRefused(err), "%+v %v", got, err)
}

// TestHTTPFollowsNoRedirect: a token goes where it was meant to, and no further.
func TestHTTPFollowsNoRedirect(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/stolen", http.StatusTemporaryRedirect)
	})
	resp, err := trusting(t, s).HTTP().Do(get(t, s.URL))
	assert.NilError(t, err)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusTemporaryRedirect || s.asked.Load() != 1 {
		t.Errorf("%s after %d requests", resp.Status, s.asked.Load())
	}
}

// TestFetchSends: the request contains the document's address, and nothing that identifies the
// person.
func TestFetchSends(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		var sent []string
		for name := range r.Header {
			sent = append(sent, name)
		}
		w.Header().Set("Sent", fmt.Sprint(len(sent), " ", r.Header.Get("Accept"), " ", r.Header.Get("If-None-Match"), " ",
			r.Header.Get("If-Modified-Since"), " ", r.Header.Get("User-Agent"), " ", r.RequestURI))
		w.WriteHeader(http.StatusNotModified)
	})
	got, err := trusting(t, s).Fetch(t.Context(), netguard.FetchRequest{
		URL: s.URL + "/a?b=c#d", Accept: "application/json", ETag: `"v1"`, LastModified: "Mon, 02 Jan 2026 15:04:05 GMT"})
	assert.NilError(t, err)
	want := `5 application/json "v1" Mon, 02 Jan 2026 15:04:05 GMT aai-gateway /a?b=c` // and Accept-Encoding
	assert.Check(t, is.Equal(got.Status, http.StatusNotModified))
	assert.Check(t, is.Equal(got.Header.Get("Sent"), want))
}

// Facts, row 7: huge, slow and decompressing answers.
func TestFetchLimits(t *testing.T) {
	body := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", n)) }
	}
	header := func(n int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Big", strings.Repeat("x", n)) }
	}
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		code    aai.Code // empty: it is taken
		network bool
	}{
		{"256 KiB", body(256 << 10), "", false},
		{"256 KiB and a byte", body(256<<10 + 1), aai.DescriptorInvalid, false},
		{"gzip bomb", gzipBomb, aai.DescriptorInvalid, false},
		{"header of 12 KiB", header(12 << 10), "", false},
		{"header of 20 KiB", header(20 << 10), aai.AppNotRunning, false},
		{"header that never ends", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, aai.AppNotRunning, true},
		{"a body byte by byte", drip, aai.AppNotRunning, true},
	} {
		for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0"} {
			t.Run(test.name+" "+protocol, func(t *testing.T) {
				s := newSite(t, test.handler)
				if protocol == "HTTP/1.1" {
					s.TLS.NextProtos = []string{"http/1.1"}
				}
				c := trusting(t, s)
				if test.network {
					c.SetFetchTimeout(300 * time.Millisecond)
				}
				got, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: s.URL})
				if test.code == "" {
					assert.NilError(t, err)
					assert.Equal(t, got.Status, http.StatusOK)
					return
				}
				if err == nil || aai.AsError(err).Code != test.code || netguard.IsNetworkError(err) != test.network {
					t.Errorf("got %v (%v)", err, errors.Unwrap(err))
				}
			})
		}
	}
}

// gzipBomb would be a gigabyte.
func gzipBomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	zeros := make([]byte, 1<<20)
	for range 1 << 10 {
		if _, err := z.Write(zeros); err != nil {
			return
		}
	}
}

func drip(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(time.Millisecond)
	}
}

func TestFetchRefusesAddresses(t *testing.T) {
	c := newClient(t, netguard.Config{})
	for _, address := range []string{
		"", "example.com", "http://example.com/", "ftp://example.com/", "file:///etc/passwd", "javascript:1", "https:example.com",
		"https://user@example.com/", "https://user:pass@example.com/", "https:///path", "https://exa mple.com/", "https://example.com:0/",
		"https://example.com:99999/", "https://0177.0.0.1/", "https://2130706433/", "https://0x7f.0.0.1/", "https://127.1/", "https://0x7f000001/",
		"https://[fe80::1%25eth0]/", "https://-x.example.com/", "https://a..b.com/", "https://a_b.example.com/", "https://\u202egro.elpmaxe/",
		"https://" + strings.Repeat("a", 64) + ".com/", "https://" + strings.Repeat("a.", 130) + "com/", "https://%00.com/", "https://exam\nple.com",
	} {
		t.Run(address, func(t *testing.T) {
			_, err := c.Fetch(t.Context(), netguard.FetchRequest{URL: address})
			e := aai.AsError(err)
			assert.Assert(t, e != nil, err)
			assert.Equal(t, e.Code, aai.InvalidParams, err)
			assert.Equal(t, e.Delivery, aai.NotDelivered, err)
			assert.Assert(t, e.Hint != "", err)
			assert.Assert(t, !strings.ContainsAny(e.Message, "\n\u202e"), err)
		})
	}
}

func TestFetchEndsWithItsCaller(t *testing.T) {
	s := newSite(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := contextThatEnds(t, s)
	defer cancel()
	_, err := trusting(t, s).Fetch(ctx, netguard.FetchRequest{URL: s.URL})
	assert.Check(t, is.ErrorIs(err, context.Canceled))
}
