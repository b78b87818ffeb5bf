package descriptors_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func checkGnote(w *world) {
	const service = "org.gnome.Gnote"
	w.start("gnote")
	w.windows(`.`, "gnote")
	w.shows(`RemoteControl`, "busctl", "--user", "tree", service)
	g := w.app(service)
	note := g.text("create_note", `{"title": "Shopping"}`)
	arg := fmt.Sprintf(`{"note": %q}`, note)
	file := ".local/share/gnote/" + strings.TrimPrefix(note, "note://gnote/") + ".note"
	g.gives("find_note", `{"title": "Shopping"}`, fmt.Sprintf("%q", note))
	g.gives("title", arg, `"Shopping"`)
	g.gives("note_exists", arg, `true`)
	g.gives("write_note", fmt.Sprintf(`{"note": %q, "text": "Shopping\n\nmilk and honey"}`, note), `true`)
	g.eventuallyGives("read_note", arg, `"Shopping\n\nmilk and honey"`)
	w.shows(`milk and honey`, "cat", "$HOME/"+file)
	g.gives("search", `{"words": "honey"}`, fmt.Sprintf("[%q]", note))
	g.has("list_notes", `{}`, note)
	g.gives("add_tag", fmt.Sprintf(`{"note": %q, "tag": "home"}`, note), `true`)
	w.shows(`<tag>home</tag>`, "cat", "$HOME/"+file)
	g.gives("tags", arg, `["home"]`)
	g.gives("notes_with_tag", `{"tag": "home"}`, fmt.Sprintf("[%q]", note))
	g.gives("remove_tag", fmt.Sprintf(`{"note": %q, "tag": "home"}`, note), `true`)
	g.gives("tags", arg, `[]`)
	info, err := os.Stat(filepath.Join(w.home, file))
	assert.NilError(w, err)
	for _, tool := range []string{"created", "changed"} {
		at, now := g.number(tool, arg), float64(info.ModTime().Unix())
		assert.Check(w, !(at > now+60), "%s: the file is of %v, got %v", tool, now, at)
		assert.Check(w, !(at < now-600), "%s: the file is of %v, got %v", tool, now, at)
	}
	g.gives("show_note", arg, `true`)
	w.windows(`Gnote`, "gnote") // whose title is not the note's
	g.callsVoid("show_search", `{"words": "milk"}`)
	w.shows(regexp.QuoteMeta(g.text("version", `{}`)), "dpkg-query", "-W", "gnote")
	g.gives("delete_note", arg, `true`)
	w.noFile(file)
	g.gives("note_exists", arg, `false`)
}

func checkHamster(w *world) {
	h := w.app("org.gnome.Hamster")
	id := h.number("track", `{"entry": "report@office"}`)
	w.shows(`report@office`, "hamster", "current")
	entry := fmt.Sprintf(`{"entry": %.0f}`, id)
	told := h.text("entry", entry)
	assert.Assert(w, is.Contains(told, `"activity": "report"`))
	assert.Assert(w, is.Contains(told, `"category": "office"`))
	h.gives("today", `{}`, fmt.Sprintf("[%q]", told))
	day := w.output("date", "+%Y-%m-%d")
	h.gives("entries", fmt.Sprintf(`{"range": "%s - %s"}`, day, day), fmt.Sprintf("[%q]", told))
	h.gives("activities", `{"words": "rep"}`, `[["report", "office"]]`)
	number := h.number("add_category", `{"category": "garden"}`)
	got := fmt.Sprint(h.call("categories", `{}`))
	assert.Check(w, is.Contains(got, fmt.Sprintf("[%.0f garden]", number)), "categories: no %v garden in %s", number, got)
	h.gives("tags", `{}`, `[]`)
	h.callsVoid("remove_entry", entry)
	h.gives("today", `{}`, `[]`)
	h.call("track", `{"entry": "tea@break"}`)
	w.shows(`tea@break`, "hamster", "current")
	h.callsVoid("stop", `{}`)
	w.shows(`^No activity|^$`, "hamster", "current")
	w.shows(regexp.QuoteMeta(h.text("version", `{}`)), "dpkg-query", "-W", "hamster-time-tracker")
}

func checkArchives(w *world) {
	w.write("docs/a.txt", "hello\n")
	a := w.app("org.gnome.ArchiveManager1")
	kinds, _ := a.call("supported_types", `{"action": "create"}`).([]any)
	text := fmt.Sprint(kinds)
	assert.Check(w, is.Contains(text, "application/zip"), "supported_types: no zip in %s", text)
	a.callsVoid("pack", `{"archive": "file://$HOME/pack.zip", "files": ["file://$HOME/docs/a.txt"]}`)
	w.shows(`a\.txt`, "unzip", "-l", "$HOME/pack.zip")
	w.write("out/b.txt", "hello\n")
	a.callsVoid("unpack", `{"archive": "file://$HOME/pack.zip", "folder": "file://$HOME/out"}`)
	w.file("out/a.txt", "hello\n")
	a.callsVoid("unpack_here", `{"archive": "file://$HOME/pack.zip"}`)
	w.shows(`/home/(pack[^/\n]*/)?a\.txt`, "find", "$HOME", "-name", "a.txt")
}

func checkTextEditor(w *world) {
	w.write("a.txt", "hello\n")
	const service, object = "org.gnome.TextEditor", "/org/gnome/TextEditor"
	e := w.app(service)
	e.callsVoid("open", `{"uris": ["file://$HOME/a.txt"]}`)
	w.windows(`a\.txt`, "gnome-text-editor")
	e.callsVoid("set_colours", `{"scheme": "solarized-light"}`)
	e.eventuallyGives("colours", `{}`, `[true, "s", ["solarized-light"]]`)
	w.shows(`solarized-light`, "gdbus", "call", "--session", "--dest", service, "--object-path", object, "--method", "org.gtk.Actions.Describe", "style-scheme")
	e.callsVoid("new_window", `{}`)
	w.windows(`a\.txt.*\n.|\n.*a\.txt`, "gnome-text-editor")
	e.callsVoid("show_window", `{}`)
	e.callsVoid("clear_history", `{}`)
	e.callsVoid("quit", `{}`)
	w.windows(`^$`, "gnome-text-editor")
}

// pngPixel is a PNG.
const pngPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

func (s *session) picture(name string) {
	s.Helper()
	pixel, err := base64.StdEncoding.DecodeString(pngPixel)
	assert.NilError(s, err)
	s.write(name, string(pixel))
}

func checkImageViewer(w *world) {
	w.picture("pictures/a.png")
	w.picture("pictures/b.png")
	done := w.start("eog", "$HOME/pictures/a.png")
	w.windows(`a\.png`, "eog")
	e := w.app("org.gnome.eog")
	for _, step := range []struct{ tool, title string }{{"next", "b"}, {"previous", "a"}, {"last", "b"}, {"first", "a"}} {
		w.eventually(func() error { // it lists the folder after it has shown the picture
			e.callsVoid(step.tool, `{}`)
			return nil
		})
		w.windows(step.title+`\.png`, "eog")
	}
	for _, tool := range []string{"zoom_in", "zoom_out", "zoom_normal"} {
		e.callsVoid(tool, `{}`)
	}
	before := w.output("md5sum", "$HOME/pictures/a.png")
	for _, tool := range []string{"turn_right", "turn_left", "mirror", "undo", "mirror"} {
		e.callsVoid(tool, `{}`)
	}
	w.eventually(func() error { // it turns a picture after its reply, and saves only the finished turns
		e.callsVoid("save", `{}`)
		if after := w.output("md5sum", "$HOME/pictures/a.png"); after == before {
			return fmt.Errorf("save: the file is as it was: %s", after)
		}
		return nil
	})
	e.callsVoid("fullscreen", `{"on": true}`)
	e.eventuallyGives("is_fullscreen", `{}`, `[true, "", [true]]`)
	w.shows(`<true>`, "gdbus", "call", "--session", "--dest", "org.gnome.eog", "--object-path", "/org/gnome/eog/window/1",
		"--method", "org.gtk.Actions.Describe", "view-fullscreen")
	e.callsVoid("fullscreen", `{"on": false}`)
	e.callsVoid("slideshow", `{"on": true}`)
	e.callsVoid("slideshow", `{"on": false}`)
	e.callsVoid("open", `{"uris": ["file://$HOME/pictures/b.png"]}`)
	w.windows(`b\.png`, "eog")
	e.callsVoid("close", `{}`)
	w.windows(`^b\.png$`, "eog")
	_ = done
}

// pdfPage is a PDF of one empty page; readers repair its omissions.
const pdfPage = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\n4 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n"

func checkEvince(w *world) {
	w.write("letter.pdf", pdfPage)
	const document = `{"document": "file://$HOME/letter.pdf"}`
	e := w.app("org.gnome.evince.Daemon")
	e.gives("is_open", document, `""`)
	shower := e.text("open", document)
	assert.Check(w, strings.HasPrefix(shower, ":"), "open: got %q", shower)
	w.windows(`letter\.pdf`, "evince")
	var owner string
	w.eventually(func() error {
		if owner = e.text("is_open", document); !strings.HasPrefix(owner, ":") {
			return fmt.Errorf("is_open: got %q", owner)
		}
		return nil
	})
	w.shows(`uint32 `, "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
		"--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", owner)
}

// stateOf compares a tool that returns the state of an action with gdbus.
func (a *app) stateOf(tool, object, action, want string) {
	a.Helper()
	a.eventually(func() error {
		state, _ := a.call(tool, `{}`).([]any)
		if len(state) != 3 || fmt.Sprint(state[2]) != "["+want+"]" {
			return fmt.Errorf("%s: expected %s at the end, got %v", tool, want, state)
		}
		return nil
	})
	a.shows(regexp.QuoteMeta("<'"+want+"'>"), "gdbus", "call", "--session", "--dest", a.id, "--object-path", object,
		"--method", "org.gtk.Actions.Describe", action)
}

func checkBaobab(w *world) {
	w.write("stuff/a.txt", "hello\n")
	w.start("baobab")
	w.windows(`.`, "baobab")
	b := w.app("org.gnome.baobab")
	b.callsVoid("scan_folder", `{"folder": "file://$HOME/stuff"}`)
	w.windows(`stuff`, "baobab")
	b.callsVoid("scan_again", `{}`)
	b.callsVoid("set_chart", `{"chart": "treemap"}`)
	b.stateOf("chart", "/org/gnome/baobab/window/1", "active-chart", "treemap")
	b.callsVoid("set_chart", `{"chart": "rings"}`)
	b.stateOf("chart", "/org/gnome/baobab/window/1", "active-chart", "rings")
	b.callsVoid("show_overview", `{}`)
	b.callsVoid("show_window", `{}`)
	b.callsVoid("quit", `{}`)
	w.windows(`^$`, "baobab")
}

func checkSystemMonitor(w *world) {
	const window = "/org/gnome/SystemMonitor/window/1"
	done := w.start("gnome-system-monitor")
	w.windows(`System Monitor`, "gnome-system-monitor")
	m := w.app("org.gnome.SystemMonitor")
	for _, page := range []string{"disks", "resources", "processes"} {
		m.callsVoid("show_page", fmt.Sprintf(`{"page": %q}`, page))
		m.stateOf("page", window, "show-page", page)
	}
	for _, whose := range []string{"all", "active", "user"} {
		m.callsVoid("show_processes_of", fmt.Sprintf(`{"whose": %q}`, whose))
		m.stateOf("processes_of", window, "show-whose-processes", whose)
	}
	m.callsVoid("show_window", `{}`)
	m.callsVoid("quit", `{}`)
	w.ended(done, "gnome-system-monitor")
}

func checkClocks(w *world) {
	const service = "org.gnome.clocks"
	c := w.app(service)
	found := c.list("find_cities", `{"words": ["reykjav"]}`)
	assert.Assert(w, len(found) != 0, "find_cities: nothing")
	times, _ := c.call("city_times", fmt.Sprintf(`{"cities": [%q]}`, found[0])).([]any)
	text := fmt.Sprint(times)
	clock := w.output("env", "TZ=Atlantic/Reykjavik", "date", "+%-I:%M")
	assert.Check(w, is.Contains(text, "Reykjav"), "city_times: date says %s, got %s", clock, text)
	c.matchesBusctl("world_clocks", `{}`, "--user", service, "/org/gnome/clocks", "org.gnome.Shell.ClocksIntegration", ".Locations")
	c.callsVoid("show_window", `{}`)
	w.windows(`.`, "org.gnome.clocks")
	c.callsVoid("quit", `{}`)
	w.windows(`^$`, "org.gnome.clocks")
}

func checkCharacters(w *world) {
	c := w.app("org.gnome.Characters")
	c.has("find", `{"words": ["snowman"]}`, "☃")
	text := strings.ToLower(fmt.Sprint(c.call("names", `{"characters": ["☃"]}`)))
	assert.Check(w, is.Contains(text, "snowman"), "names: Unicode says snowman, got %s", text)
	c.callsVoid("show_window", `{}`)
	w.windows(`.`, "org.gnome.Characters")
}
