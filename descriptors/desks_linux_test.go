package descriptors_test

import (
	"fmt"
	"strings"

	"gotest.tools/v3/assert"
)

func checkOkular(w *world) {
	w.write("letter.pdf", pdfPage)
	w.write("other.pdf", pdfPage)
	w.write(".config/okularpartrc", "[PageView]\nSmoothScrolling=false\n") // input during scrolling is lost
	w.start("okular", "--unique", "$HOME/letter.pdf")
	w.windows(`letter\.pdf`, "okular")
	o := w.app("org.kde.okular")
	o.eventuallyGives("count_pages", `{}`, `2`) // as aPage has
	o.gives("document", `{}`, `"$HOME/letter.pdf"`)
	o.eventually(func() error { // the layout follows the count, and then the first page is shown
		o.callsVoid("first_page", `{}`)
		o.callsVoid("next_page", `{}`)
		if at := o.number("page", `{}`); at != 2 {
			return fmt.Errorf("next_page: on page %v", at)
		}
		return nil
	})
	for _, step := range []struct{ tool, args, page string }{
		{"go_to_page", `{"page": 1}`, "1"}, {"next_page", `{}`, "2"}, {"previous_page", `{}`, "1"}, {"last_page", `{}`, "2"},
		{"first_page", `{}`, "1"}, {"go_to_page", `{"page": 2}`, "2"},
	} {
		o.callsVoid(step.tool, step.args)
		o.eventuallyGives("page", `{}`, step.page)
		w.shows(`^\(uint32 `+step.page+`,\)$`, "gdbus", "call", "--session", "--dest", "org.kde.okular", "--object-path", "/okular",
			"--method", "org.kde.okular.currentPage")
	}
	o.matchesBusctl("about", `{"fact": "title"}`, "--user", "org.kde.okular", "/okular", "org.kde.okular", "documentMetaData", "s", "title")
	o.callsVoid("reload", `{}`)
	o.callsVoid("open", `{"document": "$HOME/other.pdf"}`)
	w.windows(`other\.pdf`, "okular")
}

func checkFlameshot(w *world) {
	w.start("flameshot")
	w.onBus("--session", "org.flameshot.Flameshot")
	w.app("org.flameshot.Flameshot").callsVoid("copy_text", `{"text": "milk and honey"}`)
	w.shows(`^milk and honey$`, "xclip", "-selection", "clipboard", "-o")
}

func checkKeePassXC(w *world) {
	const service = "org.keepassxc.KeePassXC.MainWindow"
	w.write("secrets.kdbx", "no database")
	done := w.start("keepassxc")
	w.onBus("--session", service)
	w.windows(`KeePassXC`, "keepassxc")
	k := w.app(service)
	k.matchesBusctl("hardware_keys", `{}`, "--user", service, "/keepassxc", service, "isHardwareKeySupported")
	k.callsVoid("ask_to_open", `{"file": "$HOME/secrets.kdbx"}`)
	w.windows(`secrets`, "keepassxc")
	k.callsVoid("lock", `{}`)
	k.callsVoid("close_databases", `{}`)
	k.callsVoid("quit", `{}`)
	w.ended(done, "keepassxc")
}

func checkCelluloid(w *world) {
	const object = "/io/github/celluloid_player/Celluloid/window/1"
	w.sound()
	w.write("one.wav", silence(200))
	w.write("two.wav", silence(200))
	done := w.start("celluloid", "$HOME/one.wav")
	w.windows(`one\.wav`, "celluloid")
	c := w.app("io.github.celluloid_player.Celluloid")
	for tool, mode := range map[string]string{"repeat_file": "toggle-loop-file", "repeat_playlist": "toggle-loop-playlist", "shuffle": "toggle-shuffle-playlist"} {
		for _, on := range []bool{true, false} {
			c.callsVoid(tool, fmt.Sprintf(`{"on": %t}`, on))
			c.eventuallyGives("mode", fmt.Sprintf(`{"mode": %q}`, mode), fmt.Sprintf(`[true, "", [%t]]`, on))
			w.shows(fmt.Sprintf(`<%t>`, on), "gdbus", "call", "--session", "--dest", c.id, "--object-path", object,
				"--method", "org.gtk.Actions.Describe", mode)
		}
	}
	c.callsVoid("fullscreen", `{}`)
	c.callsVoid("leave_fullscreen", `{}`)
	c.callsVoid("set_audio_track", `{"track": 1}`)
	c.callsVoid("set_subtitle_track", `{"track": 0}`)
	c.callsVoid("open", `{"uris": ["file://$HOME/two.wav"]}`)
	w.windows(`two\.wav`, "celluloid")
	c.callsVoid("quit", `{}`)
	w.ended(done, "celluloid")
}

func checkRhythmbox(w *world) {
	w.sound()
	w.write("one.wav", silence(200))
	done := w.start("rhythmbox")
	w.windows(`.`, "rhythmbox")
	w.shows(`PlaylistManager`, "busctl", "--user", "tree", "org.gnome.Rhythmbox3")
	r := w.app("org.gnome.Rhythmbox3")
	const song = `{"address": "file://$HOME/one.wav"}`
	r.callsVoid("add_song", `{"address": "file://$HOME/one.wav", "play": true}`)
	r.callsVoid("play_pause", `{}`)
	r.eventually(func() error {
		_, err := r.do("song", song) // once it is in the library
		return err
	})
	r.callsVoid("rate_song", `{"address": "file://$HOME/one.wav", "stars": 4}`)
	r.eventually(func() error {
		tags, _ := r.call("song", song).(map[string]any)
		if tags["rating"] != 4.0 {
			return fmt.Errorf("rate_song: expected 4 stars in %v", tags)
		}
		return nil
	})
	w.shows(`'rating': <4.0>`, "gdbus", "call", "--session", "--dest", "org.gnome.Rhythmbox3", "--object-path", "/org/gnome/Rhythmbox3/RhythmDB",
		"--method", "org.gnome.Rhythmbox3.RhythmDB.GetEntryProperties", "file://$HOME/one.wav")
	r.callsVoid("queue", song)
	r.callsVoid("next", `{}`)
	r.callsVoid("previous", `{}`)
	r.callsVoid("unqueue", song)
	r.callsVoid("clear_queue", `{}`)
	r.callsVoid("create_playlist", `{"playlist": "Calm"}`)
	r.has("playlists", `{}`, "Calm")
	r.callsVoid("add_to_playlist", `{"playlist": "Calm", "address": "file://$HOME/one.wav"}`)
	r.callsVoid("export_playlist", `{"playlist": "Calm", "file": "file://$HOME/calm.pls"}`)
	w.shows(`one\.wav`, "cat", "$HOME/calm.pls")
	r.callsVoid("remove_from_playlist", `{"playlist": "Calm", "address": "file://$HOME/one.wav"}`)
	r.callsVoid("delete_playlist", `{"playlist": "Calm"}`)
	left := strings.Join(r.list("playlists", `{}`), "\n")
	assert.Check(w, !strings.Contains(left, "Calm"), "delete_playlist: still %s", left)
	r.callsVoid("quit", `{}`)
	w.ended(done, "rhythmbox")
}

func checkNautilus(w *world) {
	w.write("docs/a.txt", "hello\n")
	w.start("nautilus", "--new-window", "$HOME/docs")
	w.windows(`docs`, "org.gnome.Nautilus")
	n := w.app("org.gnome.Nautilus")
	n.callsVoid("rename", `{"file": "file://$HOME/docs/a.txt", "name": "b.txt"}`)
	w.file("docs/b.txt", "hello\n")
	n.callsVoid("create_folder", `{"in": "file://$HOME", "name": "new"}`)
	w.shows(`^$`, "ls", "$HOME/new")
	n.callsVoid("copy", `{"files": ["file://$HOME/docs/b.txt"], "folder": "file://$HOME/new"}`)
	w.file("new/b.txt", "hello\n")
	n.callsVoid("move", `{"files": ["file://$HOME/docs/b.txt"], "folder": "file://$HOME"}`)
	w.file("b.txt", "hello\n")
	w.noFile("docs/b.txt")
	n.callsVoid("move_to_trash", `{"files": ["file://$HOME/b.txt"]}`)
	w.noFile("b.txt")
	w.file(trashed+"b.txt", "hello\n")
	n.callsVoid("show_folder", `{"folder": "file://$HOME/new"}`)
	w.windows(`new`, "org.gnome.Nautilus")
	n.callsVoid("quit", `{}`)
	w.windows(`^$`, "nautilus")
}

func checkKded(w *world) {
	const service, object, module = "org.kde.kded5", "/kded", "remotenotifier"
	k := w.app(service)
	k.matchesBusctl("running", `{}`, "--user", service, object, service, "loadedModules")
	for tool, method := range map[string]string{"starts_with_desktop": "isModuleAutoloaded", "starts_on_demand": "isModuleLoadedOnDemand"} {
		k.matchesBusctl(tool, `{"service": "`+module+`"}`, "--user", service, object, service, method, "s", module)
	}
	k.gives("start", `{"service": "`+module+`"}`, `true`)
	k.has("running", `{}`, module)
	w.shows(module, "gdbus", "call", "--session", "--dest", service, "--object-path", object, "--method", service+".loadedModules")
	k.gives("stop", `{"service": "`+module+`"}`, `true`)
	k.gives("start", `{"service": "nobody-has-this"}`, `false`)
	for _, on := range []string{"false", "true"} {
		k.callsVoid("set_starts_with_desktop", `{"service": "`+module+`", "on": `+on+`}`)
		k.gives("starts_with_desktop", `{"service": "`+module+`"}`, on)
		w.shows(module+`\]\nautoload=`+on, "cat", "$HOME/.config/kded5rc")
	}
}
