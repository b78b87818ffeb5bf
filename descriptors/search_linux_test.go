package descriptors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// searchAgent is an agent that knows only the search and the runner of tools, with a newly started
// gateway.
type searchAgent struct {
	*world
	gateway *testkit.Process
	asked   int
	calls   int
	places  [5]int // number of times the tool had each rank in the result
}

// newAsker starts the program, cold: as released, but it accepts the home's settings without
// confirmation.
func newAsker(w *world, folder string, allowed ...string) *searchAgent {
	w.Helper()
	program := filepath.Join(w.TempDir(), "aai-gateway")
	build := exec.CommandContext(w.Context(), "go", "build", "-trimpath", "-tags", "benchmarks", "-o", program, "github.com/gybob/aai-gateway/cmd/aai-gateway")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	assert.NilError(w, err, out)
	var rows []string
	for _, app := range allowed {
		rows = append(rows, fmt.Sprintf(`{"app": %q, "tools": ["*"], "caller": "*", "expires": "2999-01-01T00:00:00Z"}`, app))
	}
	w.write(".aai/config.json", `{"dbus": {"allowSystemBus": true}, "consent": {"preapproved": [`+strings.Join(rows, ",")+`]}}`)
	assert.NilError(w, os.CopyFS(filepath.Join(w.home, ".aai"), os.DirFS(folder)))
	a := &searchAgent{world: w, gateway: testkit.StartProcess(w, w.command(context.WithoutCancel(w.Context()), program, "mcp", "serve"))}
	w.Cleanup(func() {
		err := a.gateway.Close()
		assert.Check(w, err, "the gateway ended with %v", err)
	})
	a.ask("initialize", `{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "asker", "version": "1"}}`, nil)
	a.say(`{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	return a
}

func (a *searchAgent) say(line string) {
	a.Helper()
	_, err := io.WriteString(a.gateway.In, line+"\n")
	assert.NilError(a, err)
}

// ask makes a request, and decodes its result.
func (a *searchAgent) ask(method, params string, result any) {
	a.Helper()
	a.asked++
	a.say(fmt.Sprintf(`{"jsonrpc": "2.0", "id": %d, "method": %q, "params": %s}`, a.asked, method, params))
	for {
		line := a.gateway.ReadLine(a)
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		err := json.Unmarshal([]byte(line), &answer)
		assert.NilError(a, err, "%s %s %s", method, params, line)
		assert.Assert(a, answer.Error == nil, "%s %s %s", method, params, line)
		if answer.ID != a.asked {
			continue // a notification
		}
		if result != nil {
			assert.NilError(a, json.Unmarshal(answer.Result, result))
		}
		return
	}
}

// call calls one of the listed tools, and returns its structured result.
func (a *searchAgent) call(tool string, args map[string]any) (structured json.RawMessage) {
	a.Helper()
	a.calls++
	params, err := json.Marshal(map[string]any{"name": tool, "arguments": args})
	assert.NilError(a, err)
	var result struct {
		IsError           bool
		Content           json.RawMessage
		StructuredContent json.RawMessage
	}
	a.ask("tools/call", string(params), &result)
	assert.Assert(a, !result.IsError, "%s %s", params, result.Content)
	return result.StructuredContent
}

// writeDistractors writes descriptors of unrelated apps into the folder.
func writeDistractors(t *testing.T, folder string, n int) {
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
		assert.NilError(t, os.MkdirAll(filepath.Join(folder, id), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(folder, id, "aai.json"), []byte(text), 0o600))
	}
}

// does searches with the words, and runs the known tool from the search result, by the name there.
// The arguments must be among those in the result.
func (a *searchAgent) does(words, app, tool, args string) any {
	a.Helper()
	a.calls = 0
	raw := a.call("aai_search", map[string]any{"words": words})
	var said struct {
		Result struct {
			Tools []struct {
				App, Tool, Takes string
				Call             struct{ App, Tool string }
			}
		}
	}
	assert.NilError(a, json.Unmarshal(raw, &said))
	given, _ := a.value(a.expand(args)).(map[string]any)
	for i, row := range said.Result.Tools {
		if i == 5 || row.App != app || row.Tool != tool {
			continue
		}
		a.places[i]++
		for name := range given {
			assert.Check(a, is.Contains(row.Takes, name), "%s: the answer does not name %s: %s", words, name, row.Takes)
		}
		data := a.call("aai_exec", map[string]any{"app": row.Call.App, "tool": row.Call.Tool, "args": given})
		assert.Check(a, a.calls <= 2, "%s took %d calls", words, a.calls)
		var gave struct{ Result any }
		assert.NilError(a, json.Unmarshal(data, &gave))
		return gave.Result
	}
	a.Fatalf("%s: %s of %s is not among the first five: %s", words, tool, app, raw)
	return nil
}

// With three hundred unknown apps, an agent does twenty real things in two calls each; another
// program verifies each effect.
func TestTwentyThingsInTwoCallsEach(t *testing.T) {
	folder := installed(t)
	for id := range optionalCases() { // exclude absent programs: several play, and one is meant
		assert.NilError(t, os.RemoveAll(filepath.Join(folder, id)))
	}
	known, err := os.ReadDir(folder)
	assert.NilError(t, err)
	writeDistractors(t, folder, 300-len(known))
	w := newWorld(t, folder)
	n := len(w.gateway.Catalog.Apps())
	assert.Equal(t, n, 300, "there are %d apps", n)
	a := newAsker(w, folder, "org.gnome.Calculator", "org.freedesktop.hostname1", "org.freedesktop.Notifications", "org.dunstproject.dunst",
		"io.mpv.Mpv", "org.xfce.Thunar", "org.xfce.Xfconf", "org.freedesktop.DBus")
	a.reckons()
	a.notifies()
	a.plays()
	a.tidies()
	a.sets()
	t.Logf("of the answers' first five rows these were the ones: %v", a.places)
}

func (a *searchAgent) reckons() {
	got := fmt.Sprint(a.does("calculate 6 times 7", "org.gnome.Calculator", "calculate", `{"results": ["6*7"]}`))
	assert.Check(a, is.Contains(got, " = "+a.output("gnome-calculator", "--solve", "6*7")))
	a.start(hostnamed)
	a.onBus("--system", "org.freedesktop.hostname1")
	assert.Check(a, is.Equal(a.does("name of this computer on the network", "org.freedesktop.hostname1", "hostname", `{}`), a.output("uname", "-n")))
	assert.Check(a, is.Equal(a.does("version of the kernel", "org.freedesktop.hostname1", "kernel_release", `{}`), a.output("uname", "-r")))
}

func (a *searchAgent) notifies() {
	a.does("show a notification to the user", "org.freedesktop.Notifications", "notify", `{"summary": "Done", "expire_timeout": 0}`)
	a.shows(`^1$`, "dunstctl", "count", "displayed")
	a.does("close all notifications on the screen", "org.dunstproject.dunst", "close_all", `{}`)
	a.shows(`^0$`, "dunstctl", "count", "displayed")
	a.does("show the last notification again", "org.dunstproject.dunst", "show_last", `{}`)
	a.shows(`^1$`, "dunstctl", "count", "displayed")
	a.does("hold notifications back for now", "org.dunstproject.dunst", "set_paused", `{"value": true}`)
	a.shows(`^true$`, "dunstctl", "is-paused")
}

func (a *searchAgent) plays() {
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

func (a *searchAgent) tidies() {
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

func (a *searchAgent) sets() {
	a.does("change a setting of the Xfce desktop", "org.xfce.Xfconf", "set_property", `{"channel": "aai-test", "property": "/a/number", "value": 42}`)
	a.shows(`^42$`, "xfconf-query", "-c", "aai-test", "-p", "/a/number")
	assert.Check(a, is.Equal(a.does("read a setting of a channel", "org.xfce.Xfconf", "get_property", `{"channel": "aai-test", "property": "/a/number"}`), float64(42)))
	got := a.does("is this service running on the bus", "org.freedesktop.DBus", "is_running", `{"arg_0": "org.xfce.Xfconf"}`)
	assert.Check(a, is.Equal(got, true), "xfconf runs: %v", got)
}
