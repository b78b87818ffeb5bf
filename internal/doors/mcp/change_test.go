package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// toolNames returns the names in the list of tools, as listed.
func (c *wire) toolNames() []string {
	c.t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(c.ask("tools/list", `{}`).Result, &list); err != nil {
		c.t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func (c *wire) resourceURIs() []string {
	c.t.Helper()
	var list struct{ Resources []struct{ URI string } }
	if err := json.Unmarshal(c.ask("resources/list", `{}`).Result, &list); err != nil {
		c.t.Fatal(err)
	}
	var uris []string
	for _, r := range list.Resources {
		uris = append(uris, r.URI)
	}
	return uris
}

// awaitChanges waits for the notifications that these lists have changed, in any order.
func (c *wire) awaitChanges(lists ...string) {
	c.t.Helper()
	missing := slices.Clone(lists)
	for len(missing) > 0 {
		came := strings.TrimSuffix(strings.TrimPrefix(c.receive().Method, "notifications/"), "/list_changed")
		if !slices.Contains(lists, came) {
			c.t.Fatalf("expected news of %q, got %q", lists, came)
		}
		// The SDK sends one notification for changes within a moment; on a busy machine one change may
		// take longer and cause two.
		missing = slices.DeleteFunc(missing, func(list string) bool { return list == came })
	}
	for _, list := range lists {
		c.notifications = append(c.notifications, "notifications/"+list+"/list_changed")
	}
}

func TestChangesWhileConnected(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-06-18", `{}`)
	expect := func(what string, ids ...string) {
		t.Helper()
		c.awaitChanges("tools", "resources")
		tools, uris := []string{"aai_exec"}, []string(nil)
		for _, id := range ids {
			tools, uris = append(tools, aai.WireName("app:"+id)), append(uris, "app:"+id)
		}
		if got := c.toolNames(); !slices.Equal(got, tools) {
			t.Errorf("%s: the tools are %q, expected %q", what, got, tools)
		}
		if got := c.resourceURIs(); !slices.Equal(got, uris) {
			t.Errorf("%s: the resources are %q, expected %q", what, got, uris)
		}
	}

	clock := w.app("org.example.Clock", "Clock", "Tells the time.")
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps, clock) })
	expect("added", "org.example.Clock", notes)

	renamed := *clock
	renamed.Name = "Watch"
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps[:2], &renamed) })
	expect("renamed", "org.example.Clock", notes)
	if list := string(c.ask("tools/list", `{}`).Result); !strings.Contains(list, "【Watch】") || strings.Contains(list, "【Clock】") {
		t.Errorf("the list has the old name: %s", list)
	}

	w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps[:1], apps[2]) })
	expect("removed", "org.example.Clock")

	broken := *clock
	broken.Tools = []*aai.Tool{{Name: addTool}}
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps[:1], &broken, w.notes()) })
	expect("another one, and this one cannot run any more", notes)

	// The removed app's tool no longer exists for calls either.
	if m := c.ask("tools/call", `{"name":"app_org_example_Clock"}`); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("the guide of an app that is gone: %+v", m)
	}
	if m := c.ask("resources/read", `{"uri":"app:org.example.Clock"}`); m.Error == nil {
		t.Errorf("the descriptor of an app that is gone: %+v", m)
	}
	if rest, err := c.hangUp(); len(rest) > 0 || err != nil {
		t.Errorf("at the end came %q and %v", rest, err)
	}
}

// TestWhatIsNoChange checks that neither the first list nor a scan without changes causes a notification.
func TestWhatIsNoChange(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-06-18", `{}`)
	w.catalog.tell()
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return []*aai.App{apps[1], apps[0]} })
	elsewhere := w.app("org.example.Elsewhere", "Elsewhere", "")
	elsewhere.Tools[0].Run = nil
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps, elsewhere) })
	// The SDK collects notifications for 10 ms. However long that really takes here, a list without
	// changes has no line before the answer.
	time.Sleep(100 * time.Millisecond)
	c.lives()
	w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps, w.app("org.example.Clock", "Clock", "")) })
	c.awaitChanges("tools", "resources")
	if rest, err := c.hangUp(); len(rest) > 0 || err != nil {
		t.Errorf("at the end came %q and %v", rest, err)
	}
}

// TestTheSDKsClientHearsOfChanges checks that the SDK's own client gets notifications in versions with
// and without sessions.
func TestTheSDKsClientHearsOfChanges(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			tools, resources := make(chan bool, 100), make(chan bool, 100)
			session := w.connect(t, version, &mcp.ClientOptions{
				ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { tools <- true },
				ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { resources <- true },
			})
			clock := func() {
				w.catalog.edit(func(apps []*aai.App) []*aai.App { return append(apps, w.app("org.example.Clock", "Clock", "")) })
			}
			// The stateless subscription may not have begun yet, so changes are repeated until one
			// arrives.
			for heard := false; !heard; {
				w.catalog.edit(func(apps []*aai.App) []*aai.App { return apps[:2] })
				clock()
				select {
				case <-tools:
					heard = true
				case <-time.After(50 * time.Millisecond):
				}
			}
			<-resources
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) != 3 {
				t.Errorf("expected three tools, got %+v, %v", list, err)
			}
		})
	}
}
