package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
)

// rewrite replaces an app's descriptor, as the file watcher does.
func (w *world) rewrite(id, descriptor string) {
	w.catalog.edit(func(apps []*aai.App) []*aai.App {
		for i, app := range apps {
			if app.ID == id {
				other := *app
				other.Descriptor.Raw, other.Descriptor.Modified = json.RawMessage(descriptor), app.Descriptor.Modified.Add(time.Second)
				apps[i] = &other
			}
		}
		return apps
	})
}

// watching returns the number of watchers of the catalog.
func (c *catalog) watching() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.listeners)
}

// updated waits for the notification of a resource. Notifications of lists may come before.
func (c *wire) updated(uri string) {
	c.t.Helper()
	for {
		m := c.receive()
		if m.Method == "notifications/resources/list_changed" {
			continue
		}
		assert.Equal(c.t, m.Method, "notifications/resources/updated", "%s %s", uri, m.Params)
		assert.Equal(c.t, string(m.Params), fmt.Sprintf(`{"uri":%q}`, uri), "%s %s", uri, m.Params)
		return
	}
}

func TestDescriptorSubscription(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-11-25", `{}`)
	uri := "app:" + notes
	follow, unfollow := fmt.Sprintf(`{"uri":%q}`, uri), fmt.Sprintf(`{"uri":%q}`, uri)
	before := w.catalog.watching()
	for range 2 {
		c.get("resources/subscribe", follow, &struct{}{})
	}
	n := w.catalog.watching()
	assert.Check(t, is.Equal(n, before+1), "the catalog is watched %d times more", n-before)
	w.rewrite(notes, `{ "schema_version": "1.1" }`)
	c.updated(uri)
	// Allow time for notifications that must not come: another app's, and none at all.
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps, w.app("org.example.Clock", "Clock", "")) })
	c.awaitChanges("resources", "tools")
	w.catalog.tell()
	time.Sleep(150 * time.Millisecond)
	assert.Check(t, is.Equal(c.textOf(uri), `application/json { "schema_version": "1.1" }`))
	// A removed app is a change, too.
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return []*aai.App{apps[0], apps[2]} })
	c.awaitChanges("resources", "tools")
	c.updated(uri)
	c.get("resources/unsubscribe", unfollow, &struct{}{})
	n = w.catalog.watching()
	assert.Check(t, is.Equal(n, before), "after the end the catalog is watched %d times more", n-before)
	c.refused(-32602, "not found", "resources/subscribe", follow)
	c.refused(-32602, "not found", "resources/subscribe", `{"uri":"file:///etc/passwd"}`)
	c.get("resources/unsubscribe", unfollow, &struct{}{}) // unsubscribing twice is no error
	c.ends()
}

// TestSubscriptionsEndWithTheSession checks that a client that disconnects has no subscriptions left.
func TestSubscriptionsEndWithTheSession(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-11-25", `{}`)
	c.get("resources/subscribe", `{"uri":"app:`+notes+`"}`, &struct{}{})
	c.ends()
	eventually(t, "nobody watches the catalog", func() bool { return w.catalog.watching() == 0 })
}

// TestAClockIsOneRegistration checks that a resource of any kind is one registration: this one changes
// by the clock.
func TestAClockIsOneRegistration(t *testing.T) {
	hand := make(chan struct{})
	minute := 0
	w := newWorld(t, adding(weather(func() any { return minute })), withResources(door.Resource{
		URI: "weather://now", Name: "now", MIME: "application/json", Call: reading("now"),
		Watch: func(_ map[string]string, changed func()) (func(), error) {
			stopped := make(chan struct{})
			go func() {
				for {
					select {
					case <-hand:
						changed()
					case <-stopped:
						return
					}
				}
			}()
			return func() { close(stopped) }, nil
		},
	}))
	c := w.dial(t).open("2025-06-18", `{}`)
	c.get("resources/subscribe", `{"uri":"weather://now"}`, &struct{}{})
	for range 3 {
		minute++
		hand <- struct{}{}
		c.updated("weather://now")
		got := c.textOf("weather://now")
		assert.Check(t, is.Equal(got, fmt.Sprintf("application/json %d", minute)), "after %d minutes it is %s", minute, got)
	}
}

// TestSDKClientSubscribes checks that the SDK's client gets notifications with and without sessions,
// over both transports.
func TestSDKClientSubscribes(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		for _, transport := range []string{"stdio", "http"} {
			t.Run(version+" "+transport, func(t *testing.T) {
				w := newWorld(t)
				news := make(chan string, 100)
				options := &mcp.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { news <- r.Params.URI }}
				var session *mcp.ClientSession
				if transport == "stdio" {
					session = w.connect(t, version, options)
				} else {
					session = w.serve(t).connectHTTP(t, version, "", options)
				}
				uri := "app:" + notes
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				assert.NilError(t, session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}))
				for n := 0; ; n++ { // the subscription may not have begun yet
					w.rewrite(notes, fmt.Sprintf(`{"n":%d}`, n))
					select {
					case got := <-news:
						assert.Check(t, is.Equal(got, uri))
						return
					case <-time.After(150 * time.Millisecond):
					}
				}
			})
		}
	}
}

// TestASubscriptionIsNarrowed checks that a stateless client that subscribes to many resources learns
// the accepted ones.
func TestASubscriptionIsNarrowed(t *testing.T) {
	w := newWorld(t, adding(weather(func() any { return 1 })), withResources(weatherResources()...))
	c := w.dial(t)
	listen := c.request("subscriptions/listen", modern(`{"notifications":{"resourceSubscriptions":["file:///nowhere","weather://now","app:`+notes+`"],"resourcesListChanged":true}}`, "", `{}`))
	m := c.receive()
	want := `{"resourcesListChanged":true,"resourceSubscriptions":["app:` + notes + `"]}`
	assert.Check(t, is.Equal(m.Method, "notifications/subscriptions/acknowledged"), "%s %s", want, m.Params)
	assert.Check(t, is.Contains(string(m.Params), `"resourceSubscriptions":["app:`+notes+`"]`), "%s %s", want, m.Params)
	w.rewrite(notes, `{"n":1}`)
	for heard := map[string]bool{}; !heard["notifications/resources/updated"] || !heard["notifications/resources/list_changed"]; {
		m := c.receive()
		heard[m.Method] = true
		assert.Check(t, is.Contains(string(m.Params), `"io.modelcontextprotocol/subscriptionId":`+listen), "news without the subscription: %s %s", m.Method, m.Params)
	}
	watching := w.catalog.watching()
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + listen + `}}`)
	eventually(t, "its end ends the watching", func() bool { return w.catalog.watching() == watching-1 })
}

// TestNothingToSubscribeTo checks that subscriptions are not offered where no resource has them.
func TestNothingToSubscribeTo(t *testing.T) {
	c := newWorld(t, withDesktop, withProfile("desktop")).dial(t).open("2025-11-25", `{}`)
	c.refused(-32601, "", "resources/subscribe", `{"uri":"output:x"}`)
}

// TestSubscribingAsksNobody checks that neither a change nor a subscription causes a question.
func TestSubscribingAsksNobody(t *testing.T) {
	asked, allowed := 0, true
	var now func()
	w := newWorld(t, adding(weather(func() any { return 1 })), withDialog(func() { asked++ }),
		withGate(func(r *aai.Request) ([]aai.Question, error) {
			if allowed {
				return nil, nil
			}
			return asksByDialog(r)
		}),
		withResources(door.Resource{
			URI: "weather://now", Name: "now", MIME: "application/json", Call: reading("now"),
			Watch: func(_ map[string]string, changed func()) (func(), error) { now = changed; return func() {}, nil },
		}))
	c := w.dial(t).open("2025-11-25", `{}`)
	c.get("resources/subscribe", `{"uri":"weather://now"}`, &struct{}{})
	allowed = false
	now()
	c.updated("weather://now") // because it may no longer be read
	other := w.dial(t).open("2025-11-25", `{}`)
	other.refused(-32004, "", "resources/subscribe", `{"uri":"weather://now"}`)
	assert.Check(t, asked <= 0, "%d questions were asked", asked)
}

// weather is an app with tools for resources of every kind.
func weather(now func() any) *aai.App {
	reads := func(r func(*aai.Call) aai.Result) aai.Action {
		return func(_ context.Context, call *aai.Call) (*aai.Result, error) { result := r(call); return &result, nil }
	}
	return &aai.App{ID: "org.example.Weather", Name: "Weather", Tools: []*aai.Tool{
		tool("now", aai.Reads, reads(func(*aai.Call) aai.Result { return aai.Result{Text: "It is warm.", Data: now()} })),
		tool("of", aai.Reads, reads(func(c *aai.Call) aai.Result { return aai.Result{Text: "In " + c.Args["text"].(string)} })),
		tool("map", aai.Reads, reads(func(*aai.Call) aai.Result {
			return aai.Result{Text: "a map", Images: []aai.Image{{MIME: "image/png", Data: []byte("PNG")}}}
		})),
		tool("none", aai.Reads, reads(func(*aai.Call) aai.Result { return aai.Result{Text: "no map"} })),
	}}
}

func reading(tool string) func(map[string]string) *aai.Call {
	return func(values map[string]string) *aai.Call {
		call := &aai.Call{App: "org.example.Weather", Tool: tool}
		if place, ok := values["place"]; ok {
			call.Args = map[string]any{"text": place + values["day"]}
		}
		return call
	}
}

func weatherResources() []door.Resource {
	return []door.Resource{
		{URI: "weather://now", Name: "now", MIME: "application/json", AudienceUser: true, Priority: 0.5, Call: reading("now")},
		{URI: "weather://of/{place}/on/{+day}", Name: "of", MIME: "text/plain", Call: reading("of")},
		{URI: "weather://map", Name: "map", MIME: "image/png", Call: reading("map")},
		{URI: "weather://none", Name: "none", MIME: "image/png", Call: reading("none")},
		{URI: "weather://{broken", Name: "broken", Call: reading("none")},
	}
}

func TestResourcesAreCalls(t *testing.T) {
	w := newWorld(t, adding(weather(func() any { return map[string]any{"degrees": 21} })), withResources(weatherResources()...))
	c := w.dial(t).open("2025-11-25", `{}`)
	for uri, want := range map[string]string{
		"weather://now":                     `application/json {"degrees":21}`,
		"weather://of/K%C3%B6ln/on/a%2Fb/c": "text/plain In Kölna/b/c",
		"weather://map":                     "image/png " + base64.StdEncoding.EncodeToString([]byte("PNG")),
		"app:" + notes:                      `application/json {"schema_version":"1.0"}`,
		"app:jotter":                        `application/json {"schema_version":"1.0"}`,
		"app:org.example%2ENotes":           `application/json {"schema_version":"1.0"}`,
		"guide:" + notes:                    "text/markdown # Notes|Notizen",
	} {
		assert.Check(t, is.Equal(c.textOf(uri), want), uri)
	}
	for _, uri := range []string{"weather://of/a/b/on/c", "weather://of//on/c", "weather://tomorrow", "app:", "app:org.example.Nobody", "output:x", "weather://of/%zz/on/c"} {
		c.refused(-32602, "not found", "resources/read", `{"uri":"`+uri+`"}`)
	}
	c.refused(-32001, "no picture", "resources/read", `{"uri":"weather://none"}`)
	reads := 0
	for _, e := range w.journal.admitted() {
		if e.Target == "org.example.Weather" {
			reads++
		}
	}
	assert.Check(t, is.Equal(reads, 4), "%d reads of the weather are on record, expected 4", reads)
}

// TestResourcesPassTheGates checks that a resource cannot be read if a gate refuses, and that reading
// asks no question.
func TestResourcesPassTheGates(t *testing.T) {
	w := newWorld(t, adding(weather(func() any { return 1 })), withResources(weatherResources()...), withGate(asks))
	c := w.dial(t).open("2025-11-25", `{}`)
	c.refused(-32004, "", "resources/read", `{"uri":"weather://now"}`)
}

func TestResourcesAreListed(t *testing.T) {
	dated := newWorld(t).app("org.example.Dated", "Dated", "")
	dated.Descriptor.Modified = time.Date(2026, 3, 19, 10, 30, 0, 5, time.FixedZone("", 3600))
	c := newWorld(t, adding(dated), withResources(weatherResources()...)).dial(t).open("2025-11-25", `{}`)
	type listed struct {
		URI, URITemplate, Name string
		Annotations            struct {
			Audience     []string
			Priority     float64
			LastModified string
		}
	}
	var list struct{ Resources, ResourceTemplates []listed }
	c.get("resources/list", `{}`, &list)
	c.get("resources/templates/list", `{}`, &list)
	found := map[string]string{}
	for _, l := range append(list.Resources, list.ResourceTemplates...) {
		b, err := json.Marshal(l.Annotations)
		assert.NilError(t, err)
		found[l.URI+l.URITemplate] = string(b)
	}
	for uri, want := range map[string]string{
		"weather://now":                  `{"Audience":["user"],"Priority":0.5,"LastModified":""}`,
		"weather://of/{place}/on/{+day}": `{"Audience":["user","assistant"],"Priority":0,"LastModified":""}`,
		"app:org.example.Dated":          `{"Audience":["assistant"],"Priority":0.3,"LastModified":"2026-03-19T09:30:00Z"}`,
		"app:{+id}":                      `{"Audience":["assistant"],"Priority":0.3,"LastModified":""}`,
		"guide:{+id}":                    `{"Audience":["assistant"],"Priority":0.6,"LastModified":""}`,
	} {
		assert.Check(t, is.Equal(found[uri], want), uri)
	}
	_, ok := found["weather://{broken"]
	assert.Check(t, !ok, "a template that is none is listed")
}

// TestTheDesktopProfileHasNoAppsToRead checks that the desktop profile has no apps, and no resources of apps.
func TestTheDesktopProfileHasNoAppsToRead(t *testing.T) {
	c := newWorld(t, withDesktop, withProfile("desktop")).dial(t).open("2025-11-25", `{}`)
	c.refused(-32602, "not found", "resources/read", `{"uri":"app:`+notes+`"}`)
	c.refused(-32602, "not found", "resources/read", `{"uri":"guide:`+notes+`"}`)
}
