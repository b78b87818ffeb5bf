package introspect_test

import (
	"fmt"
	"strings"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
	"github.com/gybob/aai-gateway/internal/schema"
)

// TestEffects checks that a method not known to read is destructive; a name suggests reading only
// as a whole.
func TestEffects(t *testing.T) {
	w := newWorld(t)
	gives, takes := `<arg type="s" direction="out"/>`, `<arg name="a" type="s" direction="in"/>`
	method := func(name, args string) string { return `<method name="` + name + `">` + args + `</method>` }
	reads := []string{"GetTitle", "ListItems", "IsOpen", "HasFocusRing", "CanPlay", "CanDelete", "get_title_of", "PropertyExists"}
	destroys := []string{
		"Title", "IsolateAll", "GetAndClear", "GetNext", "GetOrCreate", "ListAndRemove", "GetPassword", "GetToken", "GetSessionKey", "Getaway", "Listen",
		"GetLock", "IsGoneOrDelete", "Wipe", "Describe", "CloseAll", "HasBeenDestroyedThenDestroy", "get",
	}
	var text strings.Builder
	for _, name := range append(reads, destroys...) {
		out := gives
		if name == "PropertyExists" || strings.HasPrefix(name, "Is") || strings.HasPrefix(name, "Has") || strings.HasPrefix(name, "Can") {
			out = `<arg type="b" direction="out"/>`
		}
		text.WriteString(method(name, takes+out))
	}
	text.WriteString(method("GetNothing", "") + `<property name="Level" type="u" access="readwrite"/>`)
	c := w.introspected("org.example.Effects", map[string]string{"/org/example/Effects": `<node><interface name="org.example.Effects">` + text.String() + `</interface></node>`})
	w.export(c, "/org/example/Effects", "org.freedesktop.DBus.Properties", map[string]any{"Get": func(_, _ string) (godbus.Variant, *godbus.Error) {
		return godbus.MakeVariant(uint32(1)), nil
	}})
	d := w.draft(introspect.Request{App: "org.example.Effects"})
	want := map[string]aai.Effect{"GetNothing": aai.Destroys}
	for _, name := range reads {
		want[name] = aai.Reads
	}
	for _, name := range destroys {
		want[name] = aai.Destroys
	}
	for _, tool := range d.Document.Sections[0].Tools {
		r := tool.Recipe.DBus
		expected, ok := want[r.Method]
		if r.Property != "" {
			expected, ok = map[string]aai.Effect{"get": aai.Reads, "set": aai.Destroys}[r.Access], true
		}
		if !ok || *tool.Effect != expected {
			t.Errorf("%s%s is said to be %s; expected %s", r.Method, r.Property, tool.Effect, expected)
		}
	}
	notes := strings.Join(d.Notes, "\n")
	assert.Check(t, is.Contains(notes, "only by their names; check each: get_title, "), "the person is not told which only seem to read: %q", notes)
}

// TestAPlayer checks the known descriptions of media players, and that a second bus name belongs
// to the same app.
func TestAPlayer(t *testing.T) {
	w := newWorld(t)
	player := `<node><interface name="org.mpris.MediaPlayer2.Player"><method name="PlayPause"/><method name="Seek"><arg name="Offset" type="x" direction="in"/></method>
		<property name="Volume" type="d" access="readwrite"/></interface><interface name="org.mpris.MediaPlayer2"><method name="Quit"/></interface></node>`
	c := w.introspected("org.example.Tunes", map[string]string{
		"/org/example/Tunes":      `<node><interface name="org.example.Tunes"><method name="Rate"/></interface></node>`,
		"/org/mpris/MediaPlayer2": player,
	})
	w.export(c, "/org/mpris/MediaPlayer2", "org.freedesktop.DBus.Properties", map[string]any{"Get": func(_, _ string) (godbus.Variant, *godbus.Error) {
		return godbus.MakeVariant(0.5), nil
	}})
	w.own(c, "org.mpris.MediaPlayer2.tunes.instance7")
	d := w.draft(introspect.Request{App: "org.example.Tunes"})
	for name, effect := range map[string]aai.Effect{"play_pause": aai.Changes, "seek": aai.Changes, "set_volume": aai.Changes, "get_volume": aai.Reads, "quit": aai.Destroys, "rate": aai.Destroys} {
		got := tool(t, d, name)
		assert.Check(t, is.Equal(*got.Effect, effect), "%s is said to be %s; expected %s", name, got.Effect, effect)
	}
	got := tool(t, d, "seek")
	assert.Check(t, is.Contains(string(got.Params), "Microseconds"), got.Params)
	assert.Check(t, is.Equal(w.draft(introspect.Request{App: "tunes"}).Document.ID, "org.example.Tunes"))
}

// TestWordsOfThePrograms checks that descriptions come from the program, in each of the possible
// forms.
func TestWordsOfThePrograms(t *testing.T) {
	w := newWorld(t)
	w.introspected("org.example.Words", map[string]string{"/org/example/Words": `<node xmlns:tp="http://telepathy.freedesktop.org/wiki/DbusSpec#extensions-v0" xmlns:doc="http://www.freedesktop.org/dbus/1.0/doc.dtd">
		<interface name="org.example.Words">
		<method name="GLib"><annotation name="org.gtk.GDBus.DocString" value="Rings the bell"/><arg name="times" type="u"><annotation name="org.gtk.GDBus.DocString" value="How often"/></arg></method>
		<method name="Telepathy"><tp:docstring><p>Sends a <em>letter</em>.</p></tp:docstring></method>
		<method name="Older"><doc:doc><doc:description><doc:para>Waters the plants</doc:para></doc:description></doc:doc></method>
		<method name="Old"><annotation name="org.freedesktop.DBus.Deprecated" value="true"/></method>
		</interface></node>`})
	d := w.draft(introspect.Request{App: "org.example.Words"})
	for name, want := range map[string]string{"g_lib": "Rings the bell.", "telepathy": "Sends a letter.", "older": "Waters the plants."} {
		assert.Check(t, is.Equal(tool(t, d, name).Description, want), name)
	}
	got := tool(t, d, "g_lib")
	assert.Check(t, strings.Contains(string(got.Params), `"description": "How often"`) || strings.Contains(string(got.Params), `"description":"How often"`), got.Params)
	assert.Check(t, !strings.Contains(string(d.Text), `"old"`), "what is deprecated was taken")
}

// TestNamesThatCannotSay checks that if names differ from the program's, the order identifies the
// arguments.
func TestNamesThatCannotSay(t *testing.T) {
	w := newWorld(t)
	w.introspected("org.example.Odd", map[string]string{"/org/example/Odd": `<node><interface name="org.example.Odd">
		<method name="Odd"><arg name="y!" type="s"/><arg name="y" type="s"/></method><method name="Bare"><arg type="s"/></method><method name="Even"><arg name="newName" type="s"/><arg name="Old-Name" type="s"/></method></interface></node>`})
	d := w.draft(introspect.Request{App: "org.example.Odd"})
	assert.Check(t, is.Equal(fmt.Sprintf("%s", tool(t, d, "odd").Recipe.DBus.Args), "[\"${y}\" \"${y_2}\"]"))
	assert.Check(t, is.Equal(fmt.Sprintf("%s", tool(t, d, "bare").Recipe.DBus.Args), "[\"${arg_0}\"]"))
	got := tool(t, d, "even").Recipe.DBus.Args
	assert.Check(t, got == nil, got)
}

// TestManyProperties checks that one tool reads many properties, and that the best ranks are kept.
func TestManyProperties(t *testing.T) {
	w := newWorld(t)
	var text strings.Builder
	all := map[string]godbus.Variant{}
	for i := range 20 {
		fmt.Fprintf(&text, `<property name="Level%d" type="u" access="read"/>`, i)
		all[fmt.Sprintf("Level%d", i)] = godbus.MakeVariant(uint32(i))
	}
	c := w.introspected("org.example.Many", map[string]string{"/org/example/Many": `<node><interface name="org.example.Many"><method name="Go"/>` + text.String() +
		`</interface><interface name="com.other.Thing"><method name="Other"/></interface></node>`})
	w.export(c, "/org/example/Many", "org.freedesktop.DBus.Properties", map[string]any{"GetAll": func(iface string) (map[string]godbus.Variant, *godbus.Error) {
		if iface != "org.example.Many" {
			return nil, godbus.NewError("org.example.Wrong", nil)
		}
		return all, nil
	}})
	d := w.draft(introspect.Request{App: "org.example.Many", Tools: 2})
	result, err := w.app(d).Tool("get_many").Run(t.Context(), &aai.Call{})
	if err != nil || len(result.Data.(map[string]any)) != 20 { //nolint:forcetypeassert // a panic fails it
		t.Errorf("%+v, %v", result, err)
	}
	tool(t, d, "go")
	assert.Assert(t, is.Len(d.Document.Sections[0].Tools, 2), "%q", d.Notes)
	assert.Assert(t, is.Contains(strings.Join(d.Notes, "\n"), "2 of 3 tools are in the descriptor"), "%q", d.Notes)
}

// TestEveryType checks that any types and names of arguments result in a valid descriptor with
// usable schemas.
func TestEveryType(t *testing.T) {
	w := newWorld(t)
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		var signature func(depth int) string
		signature = func(depth int) string {
			basic := rapid.SampledFrom(strings.Split("y b n q i u x t d s o g v", " "))
			if depth > 4 {
				return basic.Draw(r, "basic")
			}
			switch rapid.IntRange(0, 5).Draw(r, "sort") {
			case 0:
				return "a" + signature(depth+1)
			case 1:
				return "(" + signature(depth+1) + signature(depth+1) + ")"
			case 2:
				return "a{" + rapid.SampledFrom([]string{"s", "o", "u", "b"}).Draw(r, "key") + signature(depth+1) + "}"
			}
			return basic.Draw(r, "basic")
		}
		var args strings.Builder
		for range rapid.IntRange(0, 4).Draw(r, "arguments") {
			name := rapid.SampledFrom([]string{"", "a", "A", "b-c", "bc", "ü", "1", "arg_0", "type"}).Draw(r, "name")
			fmt.Fprintf(&args, `<arg name="%s" type="%s" direction="%s"/>`, name, signature(0), rapid.SampledFrom([]string{"in", "out"}).Draw(r, "direction"))
		}
		service := fmt.Sprintf("org.example.N%d", n)
		c := w.introspected(service, map[string]string{fmt.Sprintf("/org/example/N%d", n): `<node><interface name="org.example.T"><method name="Do">` + args.String() + `</method></interface></node>`})
		defer func() { _ = c.Close() }()
		d, err := w.Draft(t.Context(), introspect.Request{App: service})
		if err != nil {
			r.Fatalf("%v\n%s", err, args.String())
		}
		for _, tool := range w.app(d).Tools {
			for _, s := range []aai.Schema{tool.Params, tool.Returns} {
				assert.NilError(r, schema.Compile(s), s.Source)
			}
			assert.Assert(r, is.Len(tool.Params.Order, strings.Count(args.String(), `"in"`)), args.String())
		}
	})
}
