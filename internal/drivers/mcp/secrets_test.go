package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// echoedSecret is a secret that changes in every encoding.
const echoedSecret = `S3cr3t/"Value"+77&x\y`

// secretForms returns the forms in which a server may repeat a secret.
func secretForms() map[string]string {
	forms := map[string]string{"as it is": echoedSecret, "percent-encoded": url.QueryEscape(echoedSecret)}
	forms["percent-encoded but for slashes"] = strings.ReplaceAll(url.PathEscape(echoedSecret), "%2F", "/")
	for i := range len(echoedSecret) {
		forms["each byte percent-encoded"] += fmt.Sprintf("%%%02x", echoedSecret[i])
	}
	quoted, _ := json.Marshal(echoedSecret)
	forms["JSON-escaped"] = string(quoted)
	for before := range 3 {
		text := []byte("xx"[:before] + echoedSecret + "tail")
		forms[fmt.Sprintf("base64 after %d bytes", before)] = base64.StdEncoding.EncodeToString(text)
		forms[fmt.Sprintf("base64 for URLs after %d bytes", before)] = base64.RawURLEncoding.EncodeToString(text)
	}
	return forms
}

// secretPlaces returns the parts of an answer that may repeat a secret.
func secretPlaces() []string {
	return []string{
		"text", "structured", "member name", "error", "protocol error", "progress", "log", "link name", "link URI", "link type",
		"picture type", "file type", "file name", "resource URI", "resource text", "resource bytes",
	}
}

// echoSecret writes the messages of an answer that has the form of the secret in the place.
func echoSecret(m message, place, form string, send func(any)) {
	content := func(c dict) dict { return dict{"content": []any{c}} }
	result := content(dict{"type": "text", "text": "nothing"})
	bytes := base64.StdEncoding.EncodeToString([]byte(form))
	switch place {
	case "text":
		result = content(dict{"type": "text", "text": "it is " + form})
	case "structured":
		result = dict{"content": []any{}, "structuredContent": dict{"a": []any{form}}}
	case "member name":
		result = dict{"content": []any{}, "structuredContent": dict{form: 1}}
	case "error":
		result = content(dict{"type": "text", "text": "no: " + form})
		result["isError"] = true
	case "protocol error":
		send(dict{"jsonrpc": "2.0", "id": m.ID, "error": dict{"code": -32000, "message": form, "data": dict{"a": form}}})
		return
	case "progress":
		meta, _ := m.Params["_meta"].(map[string]any)
		send(dict{"jsonrpc": "2.0", "method": "notifications/progress", "params": dict{"progressToken": meta["progressToken"], "progress": 1, "message": form}})
	case "log":
		send(dict{"jsonrpc": "2.0", "method": "notifications/message", "params": dict{"level": "error", "data": form}})
	case "link name":
		result = content(dict{"type": "resource_link", "uri": "x://a", "name": form, "description": form, "title": form})
	case "link URI":
		result = content(dict{"type": "resource_link", "uri": "x://" + form, "name": "a"})
	case "link type":
		result = content(dict{"type": "resource_link", "uri": "x://a", "name": "a", "mimeType": form})
	case "picture type":
		result = content(dict{"type": "image", "data": "AAAA", "mimeType": form})
	case "file type":
		result = content(dict{"type": "audio", "data": bytes, "mimeType": form})
	case "file name":
		result = content(dict{"type": "resource", "resource": dict{"uri": "file:///" + form, "blob": "AAAA", "mimeType": form}})
	case "resource URI":
		result = content(dict{"type": "resource", "resource": dict{"uri": "x://" + form, "text": "t"}})
	case "resource text":
		result = content(dict{"type": "resource", "resource": dict{"uri": "x://a", "text": form}})
	case "resource bytes":
		result = content(dict{"type": "resource", "resource": dict{"uri": "x://a", "blob": bytes}})
	}
	send(dict{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

// echoArgs returns the place and the form that a call asks for.
func echoArgs(m message, secret string) (place, form string) {
	args, _ := m.Params["arguments"].(map[string]any)
	place, _ = args["place"].(string)
	name, _ := args["form"].(string)
	return place, strings.ReplaceAll(secretForms()[name], echoedSecret, secret)
}

// echoServer is a server at an address that repeats the token of the request.
func echoServer(t *testing.T) string {
	t.Helper()
	rude := &hostileServer{kind: "echoes"}
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m message
		switch err := json.NewDecoder(r.Body).Decode(&m); {
		case r.Method != http.MethodPost || err != nil:
			http.Error(w, "no", http.StatusMethodNotAllowed)
			return
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(value any) {
			b, _ := json.Marshal(value)
			_, _ = fmt.Fprintf(w, "event: message\ndata: %s\n\n", b)
		}
		reply := func(result any) { send(dict{"jsonrpc": "2.0", "id": m.ID, "result": result}) }
		switch m.Method {
		case "initialize":
			reply(dict{"protocolVersion": m.Params["protocolVersion"], "capabilities": dict{"tools": dict{}, "logging": dict{}}, "serverInfo": dict{"name": "rude", "version": "1"}})
		case "tools/list":
			reply(rude.list(m))
		default:
			place, form := echoArgs(m, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			echoSecret(m, place, form, send)
		}
	}))
	t.Cleanup(far.Close)
	return far.URL
}

var base64Run = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)

// leaksSecret reports whether the text has the secret in any form: it decodes the text, and does
// not know the forms.
func leaksSecret(text string) bool {
	readings := []string{text}
	for range 3 {
		last := readings[len(readings)-1]
		readings = append(readings, strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\u0026`, "&", `\u002b`, "+").Replace(last))
	}
	if plain, err := url.QueryUnescape(strings.ReplaceAll(text, "+", "%2B")); err == nil {
		readings = append(readings, plain)
	}
	for _, reading := range readings {
		if strings.Contains(reading, echoedSecret) {
			return true
		}
		for _, run := range base64Run.FindAllString(reading, -1) {
			run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
			for begin := range min(4, len(run)) {
				part := run[begin : begin+(len(run)-begin)/4*4]
				raw, err := base64.StdEncoding.DecodeString(part)
				if err == nil && len(raw) < len(text) && (strings.Contains(string(raw), echoedSecret) || strings.Contains(string(raw), strings.ReplaceAll(echoedSecret, `"`, `\"`)) || len(raw) > 8 && leaksSecret(string(raw))) {
					return true
				}
			}
		}
	}
	return false
}

// A server's variables and the token for a server at an address return in no part of an answer.
func TestServersRepeatNoSecrets(t *testing.T) {
	for driver, open := range map[string]func(*testing.T) (*world, string){
		"process": func(t *testing.T) (*world, string) {
			t.Setenv("ECHOED", echoedSecret)
			w := newWorld(t)
			app := w.hostile(t, "echoes")
			w.local.apps[0].Server.MCP.Env = []string{"ECHOED"}
			return w, app
		},
		"address": func(t *testing.T) (*world, string) {
			known, token := new(fakeAuthorizer), echoedSecret
			known.token.Store(&token)
			w := newWorld(t, func(c *mcp.Config) { c.Client, c.Authorizer = http.DefaultClient, known })
			t.Cleanup(http.DefaultClient.CloseIdleConnections)
			return w, w.add(t, &aai.MCPRecipe{URL: echoServer(t) + "/mcp", Auth: &aai.AuthRecipe{Kind: aai.AuthBearer}})
		},
	} {
		t.Run(driver, func(t *testing.T) {
			w, app := open(t)
			w.start(t, app)
			for form := range secretForms() {
				for _, place := range secretPlaces() {
					var mu sync.Mutex
					progress := ""
					ctx := gateway.WithProgress(t.Context(), func(_, _ float64, message string) {
						mu.Lock()
						defer mu.Unlock()
						progress += message
					})
					result, e := w.callIn(context.WithoutCancel(ctx), app, "do", map[string]any{"place": place, "form": form})
					told := fmt.Sprintf("%+v", e)
					if result != nil {
						data, err := json.Marshal(result.Data)
						assert.NilError(t, err)
						told = fmt.Sprintf("%s\n%s\n%s\n%+v", result.Text, data, result.Warning, result.Images)
					}
					mu.Lock()
					told += "\n" + progress
					mu.Unlock()
					assert.Check(t, !leaksSecret(told), "%s %s %s", place, form, told)
				}
			}
			w.mu.Lock()
			recorded := fmt.Sprintf("%+v", w.noted)
			w.mu.Unlock()
			assert.Check(t, !leaksSecret(recorded), "the record has the secret")
			assert.Check(t, !leaksSecret(w.log.String()), "the log has the secret")
		})
	}
}

// The oracle finds each form.
func TestLeaksSecret(t *testing.T) {
	for name, form := range secretForms() {
		assert.Check(t, leaksSecret("it is "+form+"."), name)
	}
	assert.Check(t, !leaksSecret("it is [secret], "+os.Args[0]), "found where there is none")
}
