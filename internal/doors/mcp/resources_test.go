package mcp_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
)

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
		m := c.ask("resources/read", `{"uri":"`+uri+`"}`)
		assert.Assert(t, m.Error != nil, "%s %+v %s", uri, m.Error, m.Result)
		assert.Equal(t, m.Error.Code, -32602, "%s %+v %s", uri, m.Error, m.Result)
		assert.Assert(t, is.Contains(m.Error.Message, "not found"), "%s %+v %s", uri, m.Error, m.Result)
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
