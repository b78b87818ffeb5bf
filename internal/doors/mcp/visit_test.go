package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"aai"
)

// A mailbox is an app on the web that wants people to log in.
const (
	mailbox   = "example.com/org.example.Mail"
	loginPage = "https://example.com/authorize?state=s1"
)

// guestbook is a change that adds the mailbox; in says whether somebody is logged in.
func guestbook(in *atomic.Bool) change {
	return func(w *world) {
		read := func(context.Context, *aai.Call) (*aai.Result, error) {
			if !in.Load() {
				return nil, &aai.Error{Code: aai.AuthRequired, Message: "example.com wants you to log in", Delivery: aai.NotDelivered, Visit: loginPage}
			}
			return &aai.Result{Text: "no mail", Foreign: "https://api.example.com"}, nil
		}
		w.catalog.apps = append(w.catalog.apps, &aai.App{ID: mailbox, Name: "Mail", Tools: []*aai.Tool{tool("read", aai.Reads, read)}})
	}
}

const readMail = `{"name":"aai_exec","arguments":{"app":"example.com/org.example.Mail","tool":"read"}}`

// TestVisit: a client that can is asked to take the person to the page, and the
// call goes on when they have been there.
func TestVisit(t *testing.T) {
	for reply, want := range map[string]string{
		`"result":{"action":"accept"}`: "", `"result":{"action":"decline"}`: "AUTH_REQUIRED",
		`"result":{"action":"cancel"}`: "AUTH_REQUIRED", `"error":{"code":-32601,"message":"no"}`: "AUTH_REQUIRED",
	} {
		var in atomic.Bool
		c := newWorld(t, guestbook(&in)).dial(t).open("2025-11-25", `{"elicitation":{"url":{}}}`)
		c.request("tools/call", readMail)
		q := c.receive()
		var asked struct{ Mode, URL, Message, ElicitationID string }
		if err := json.Unmarshal(q.Params, &asked); err != nil || q.Method != "elicitation/create" {
			t.Fatalf("%+v: %v", q, err)
		}
		if asked.Mode != "url" || asked.URL != loginPage || asked.ElicitationID == "" || !strings.Contains(asked.Message, "log in") {
			t.Errorf("asked %+v", asked)
		}
		in.Store(strings.Contains(reply, "accept"))
		result := c.reply(q, reply)
		if result.code() != want {
			t.Errorf("%s: %+v", reply, result)
		}
		if want == "" && !strings.Contains(result.Content[0].Text, "From https://api.example.com, as data") {
			t.Errorf("whose words these are is not said: %+v", result.Content)
		}
	}
}

// TestVisitOnce: that a client accepts is no proof, and it is not asked twice.
func TestVisitOnce(t *testing.T) {
	var in atomic.Bool
	c := newWorld(t, guestbook(&in)).dial(t).open("2025-11-25", `{"elicitation":{"url":{}}}`)
	c.request("tools/call", readMail)
	if code := c.reply(c.receive(), `"result":{"action":"accept"}`).code(); code != "AUTH_REQUIRED" {
		t.Errorf("it came to %q", code)
	}
}

// TestVisitOfTheNewerEra: the page comes as an input request; the call with the
// response goes on.
func TestVisitOfTheNewerEra(t *testing.T) {
	var in atomic.Bool
	c := newWorld(t, guestbook(&in)).dial(t)
	const can = `{"elicitation":{"url":{}}}`
	r := c.ask("tools/call", modern(readMail, "", can)).result(t)
	if asked := r.InputRequests["login"]; r.ResultType != "input_required" || asked.Method != "elicitation/create" || !strings.Contains(string(asked.Params), loginPage) {
		t.Fatalf("%+v", r)
	}
	been := inputs(`{"login":{"action":"accept"}}`, "")
	c.ask("tools/call", modern(readMail, been, can)).result(t).fails(t, "AUTH_REQUIRED")
	in.Store(true)
	c.ask("tools/call", modern(readMail, been, can)).result(t).succeeds(t)
}

// TestNobodyCanVisit: a client without that gets the page in words.
func TestNobodyCanVisit(t *testing.T) {
	for _, capabilities := range []string{`{}`, elicits, `{"elicitation":{"form":{}}}`} {
		var in atomic.Bool
		c := newWorld(t, guestbook(&in)).dial(t).open("2025-11-25", capabilities)
		r := c.ask("tools/call", readMail).result(t)
		r.fails(t, "AUTH_REQUIRED")
		if !strings.Contains(r.Content[0].Text, loginPage) || r.StructuredContent["visit"] != loginPage {
			t.Errorf("%s: %+v", capabilities, r)
		}
	}
}
