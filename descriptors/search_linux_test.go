package descriptors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aai"
	"aai/internal/search"
)

// An asker is an agent that knows nothing but the search and the runner of tools.
type asker struct {
	*world
	calls int
}

// withSearch is a catalog with the gateway's own app, of which there is the search.
type withSearch struct {
	aai.Catalog
	own *aai.App
}

func (c withSearch) Find(ctx context.Context, name string) (*aai.App, error) {
	if name == aai.OwnApp {
		return c.own, nil
	}
	return c.Catalog.Find(ctx, name)
}

// others writes descriptors of apps of other trades into the folder.
func others(t *testing.T, folder string, n int) {
	t.Helper()
	trades := []string{"invoice", "vehicle", "album", "ticket", "parcel", "recipe", "customer", "sensor", "lesson", "match"}
	for i := range n {
		thing, id := trades[i%len(trades)], fmt.Sprintf("com.example.other%d", i)
		var tools []string
		for _, verb := range []string{"list", "open", "copy", "delete", "rename", "set_name_of"} {
			tools = append(tools, fmt.Sprintf(`{"name": "%s_%s", "description": "%s a %s in the workspace.", "method": "M",
				"parameters": {"type": "object", "properties": {"id": {"type": "string"}}}}`, verb, thing, strings.ReplaceAll(verb, "_", " "), thing))
		}
		text := fmt.Sprintf(`{"schema_version": "1.0", "appId": %q, "name": "Work with each %s %d", "description": "Everything about a %s, its files, settings and notifications.", "version": "1.0.0",
			"platforms": {"linux": {"automation": "dbus", "bus": "session", "service": %q, "object": "/", "interface": %q, "tools": [%s]}}}`,
			id, thing, i, thing, id, id, strings.Join(tools, ","))
		if err := os.MkdirAll(filepath.Join(folder, id), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, id, "aai.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// does asks for something in words, and runs the tool of the answer that is known to do it:
// with the arguments of the thing, which must be of those that the answer names.
func (a *asker) does(words, app, tool, args string) any {
	a.Helper()
	a.calls = 0
	call := func(c *aai.Call) *aai.Result {
		a.calls++
		c.Caller = aai.Caller{Door: aai.DoorMCP, Name: "asker"}
		result, err := a.gateway.Do(a.Context(), c)
		if err != nil {
			a.Fatalf("%s: %s %s: %v", words, c.App, c.Tool, err)
		}
		return result
	}
	var said struct {
		Tools []struct {
			App, Tool, Takes string
			Call             struct{ App, Tool string }
		}
	}
	raw, err := json.Marshal(call(&aai.Call{App: aai.OwnApp, Tool: search.Words, Args: map[string]any{"words": words}}).Data)
	if err == nil {
		err = json.Unmarshal(raw, &said)
	}
	if err != nil {
		a.Fatal(err)
	}
	given, _ := a.value(a.expand(args)).(map[string]any)
	for i, row := range said.Tools {
		if i == 5 || row.App != app || row.Tool != tool {
			continue
		}
		for name := range given {
			if !strings.Contains(row.Takes, name) {
				a.Errorf("%s: the answer does not name %s: %s", words, name, row.Takes)
			}
		}
		result := call(&aai.Call{App: row.Call.App, Tool: row.Call.Tool, Args: given})
		if a.calls > 2 {
			a.Errorf("%s took %d calls", words, a.calls)
		}
		data, err := json.Marshal(result.Data)
		if err != nil {
			a.Fatal(err)
		}
		return a.value(string(data))
	}
	a.Fatalf("%s: %s of %s is not among the first five: %s", words, tool, app, raw)
	return nil
}

// Of three hundred apps, of which it knows none, an agent does twenty real things in two calls
// each: what has come of each another program says.
func TestTwentyThingsInTwoCallsEach(t *testing.T) {
	folder := installed(t)
	for id := range moreCases() { // of programs that are not here: several play, and one is meant
		if err := os.RemoveAll(filepath.Join(folder, id)); err != nil {
			t.Fatal(err)
		}
	}
	known, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	others(t, folder, 300-len(known))
	w := newWorld(t, folder)
	if n := len(w.gateway.Catalog.Apps()); n != 300 {
		t.Fatalf("there are %d apps", n)
	}
	apps := w.gateway.Catalog
	finder := search.New(search.Config{Apps: apps.Apps})
	t.Cleanup(func() { _ = finder.Close() })
	w.gateway.Catalog = withSearch{apps, &aai.App{ID: aai.OwnApp, Name: "AAI Gateway", Tools: finder.Tools()}}
	a := &asker{world: w}
	a.reckons()
	a.notifies()
	a.plays()
	a.tidies()
	a.sets()
}

func (a *asker) reckons() {
	got := fmt.Sprint(a.does("calculate 6 times 7", "org.gnome.Calculator", "calculate", `{"results": ["6*7"]}`))
	if !strings.Contains(got, " = "+a.output("gnome-calculator", "--solve", "6*7")) {
		a.Errorf("6*7: %s", got)
	}
	a.start(hostnamed)
	a.onBus("--system", "org.freedesktop.hostname1")
	if got := a.does("name of this computer on the network", "org.freedesktop.hostname1", "hostname", `{}`); got != a.output("uname", "-n") {
		a.Errorf("the name: %v", got)
	}
	if got := a.does("version of the kernel", "org.freedesktop.hostname1", "kernel_release", `{}`); got != a.output("uname", "-r") {
		a.Errorf("the kernel: %v", got)
	}
}

func (a *asker) notifies() {
	a.does("show a notification to the user", "org.freedesktop.Notifications", "notify", `{"summary": "Done", "expire_timeout": 0}`)
	a.shows(`^1$`, "dunstctl", "count", "displayed")
	a.does("close all notifications on the screen", "org.dunstproject.dunst", "close_all", `{}`)
	a.shows(`^0$`, "dunstctl", "count", "displayed")
	a.does("show the last notification again", "org.dunstproject.dunst", "show_last", `{}`)
	a.shows(`^1$`, "dunstctl", "count", "displayed")
	a.does("hold notifications back for now", "org.dunstproject.dunst", "set_paused", `{"value": true}`)
	a.shows(`^true$`, "dunstctl", "is-paused")
}

func (a *asker) plays() {
	a.write("one.wav", silence(200))
	a.write("two.wav", silence(200))
	a.start("mpv", "--no-terminal", "--vo=null", "--ao=null", "--idle=yes", "--pause", "$HOME/one.wav", "$HOME/two.wav")
	a.playing("one.wav")
	a.does("set the volume of the player", "io.mpv.Mpv", "set_volume", `{"value": 0.5}`)
	a.shows(`^0\.50*$`, "playerctl", "volume")
	a.does("go to the next song", "io.mpv.Mpv", "next", `{}`)
	a.playing("two.wav")
	a.does("上一首歌", "io.mpv.Mpv", "previous", `{}`)
	a.playing("one.wav")
	a.does("Wiedergabe wiederholen", "io.mpv.Mpv", "set_loop", `{"value": "Playlist"}`)
	a.shows(`^Playlist$`, "playerctl", "loop")
	a.does("play the video", "io.mpv.Mpv", "play", `{}`)
	a.shows(`^Playing$`, "playerctl", "status")
	a.does("pause the player", "io.mpv.Mpv", "pause", `{}`)
	a.shows(`^Paused$`, "playerctl", "status")
}

func (a *asker) tidies() {
	a.write("in/c.txt", "c\n")
	a.write("in/d.txt", "d\n")
	a.write("out/there.txt", "")
	a.thunar()
	a.does("copy files into a folder", "org.xfce.Thunar", "copy_into", `{"source_filenames": ["$HOME/in/c.txt"], "target_filename": "$HOME/out"}`)
	a.file("out/c.txt", "c\n")
	a.does("Datei in einen anderen Ordner verschieben", "org.xfce.Thunar", "move_into", `{"source_filenames": ["$HOME/in/d.txt"], "target_filename": "$HOME/out"}`)
	a.file("out/d.txt", "d\n")
	a.noFile("in/d.txt")
	a.does("把文件移到回收站", "org.xfce.Thunar", "move_to_trash", `{"filenames": ["$HOME/out/d.txt"]}`)
	a.file(trashed+"d.txt", "d\n")
	a.does("open a folder in the file manager", "org.xfce.Thunar", "show_folders", `{"URIs": ["file://$HOME/in"]}`)
	a.windows(`in - Thunar`, "Thunar")
}

func (a *asker) sets() {
	a.does("change a setting of the Xfce desktop", "org.xfce.Xfconf", "set_property", `{"channel": "aai-test", "property": "/a/number", "value": 42}`)
	a.shows(`^42$`, "xfconf-query", "-c", "aai-test", "-p", "/a/number")
	if got := a.does("read a setting of a channel", "org.xfce.Xfconf", "get_property", `{"channel": "aai-test", "property": "/a/number"}`); got != float64(42) {
		a.Errorf("the setting: %v", got)
	}
	if got := a.does("is this service running on the bus", "org.freedesktop.DBus", "is_running", `{"arg_0": "org.xfce.Xfconf"}`); got != true {
		a.Errorf("xfconf runs: %v", got)
	}
}
