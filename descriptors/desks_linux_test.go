package descriptors_test

import (
	"fmt"
	"strings"
)

func checkOkular(w *world) {
	w.write("letter.pdf", aPage)
	w.write("other.pdf", aPage)
	w.write(".config/okularpartrc", "[PageView]\nSmoothScrolling=false\n") // what comes while it scrolls is lost
	w.start("okular", "--unique", "$HOME/letter.pdf")
	w.windows(`letter\.pdf`, "okular")
	o := w.app("org.kde.okular")
	page := func(want string) {
		w.Helper()
		o.comesToGive("page", `{}`, want)
		w.shows(`^\(uint32 `+want+`,\)$`, "gdbus", "call", "--session", "--dest", "org.kde.okular", "--object-path", "/okular",
			"--method", "org.kde.okular.currentPage")
	}
	o.comesToGive("count_pages", `{}`, `2`) // as aPage has
	o.gives("document", `{}`, `"$HOME/letter.pdf"`)
	o.eventually(func() error { // the pages are laid out after they are counted, and then the first is shown
		o.acts("first_page", `{}`)
		o.acts("next_page", `{}`)
		if at := o.number("page", `{}`); at != 2 {
			return fmt.Errorf("next_page: on page %v", at)
		}
		return nil
	})
	o.acts("go_to_page", `{"page": 1}`)
	page("1")
	o.acts("next_page", `{}`)
	page("2")
	o.acts("previous_page", `{}`)
	page("1")
	o.acts("last_page", `{}`)
	page("2")
	o.acts("first_page", `{}`)
	page("1")
	o.acts("go_to_page", `{"page": 2}`)
	page("2")
	o.asBusctl("about", `{"fact": "title"}`, "--user", "org.kde.okular", "/okular", "org.kde.okular", "documentMetaData", "s", "title")
	o.acts("reload", `{}`)
	o.acts("open", `{"document": "$HOME/other.pdf"}`)
	w.windows(`other\.pdf`, "okular")
}

func checkFlameshot(w *world) {
	w.start("flameshot")
	w.onBus("--session", "org.flameshot.Flameshot")
	w.app("org.flameshot.Flameshot").acts("copy_text", `{"text": "milk and honey"}`)
	w.shows(`^milk and honey$`, "xclip", "-selection", "clipboard", "-o")
}

func checkKeePassXC(w *world) {
	const service = "org.keepassxc.KeePassXC.MainWindow"
	w.write("secrets.kdbx", "no database")
	done := w.start("keepassxc")
	w.onBus("--session", service)
	w.windows(`KeePassXC`, "keepassxc")
	k := w.app(service)
	k.asBusctl("hardware_keys", `{}`, "--user", service, "/keepassxc", service, "isHardwareKeySupported")
	k.acts("ask_to_open", `{"file": "$HOME/secrets.kdbx"}`)
	w.windows(`secrets`, "keepassxc")
	k.acts("lock", `{}`)
	k.acts("close_databases", `{}`)
	k.acts("quit", `{}`)
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
			c.acts(tool, fmt.Sprintf(`{"on": %t}`, on))
			c.comesToGive("mode", fmt.Sprintf(`{"mode": %q}`, mode), fmt.Sprintf(`[true, "", [%t]]`, on))
			w.shows(fmt.Sprintf(`<%t>`, on), "gdbus", "call", "--session", "--dest", c.id, "--object-path", object,
				"--method", "org.gtk.Actions.Describe", mode)
		}
	}
	c.acts("fullscreen", `{}`)
	c.acts("leave_fullscreen", `{}`)
	c.acts("set_audio_track", `{"track": 1}`)
	c.acts("set_subtitle_track", `{"track": 0}`)
	c.acts("open", `{"uris": ["file://$HOME/two.wav"]}`)
	w.windows(`two\.wav`, "celluloid")
	c.acts("quit", `{}`)
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
	r.acts("add_song", `{"address": "file://$HOME/one.wav", "play": true}`)
	r.acts("play_pause", `{}`)
	r.eventually(func() error {
		_, err := r.do("song", song) // when it is in the library
		return err
	})
	r.acts("rate_song", `{"address": "file://$HOME/one.wav", "stars": 4}`)
	r.eventually(func() error {
		tags, _ := r.call("song", song).(map[string]any)
		if tags["rating"] != 4.0 {
			return fmt.Errorf("rate_song: expected 4 stars in %v", tags)
		}
		return nil
	})
	w.shows(`'rating': <4.0>`, "gdbus", "call", "--session", "--dest", "org.gnome.Rhythmbox3", "--object-path", "/org/gnome/Rhythmbox3/RhythmDB",
		"--method", "org.gnome.Rhythmbox3.RhythmDB.GetEntryProperties", "file://$HOME/one.wav")
	r.acts("queue", song)
	r.acts("next", `{}`)
	r.acts("previous", `{}`)
	r.acts("unqueue", song)
	r.acts("clear_queue", `{}`)
	r.acts("create_playlist", `{"playlist": "Calm"}`)
	r.has("playlists", `{}`, "Calm")
	r.acts("add_to_playlist", `{"playlist": "Calm", "address": "file://$HOME/one.wav"}`)
	r.acts("export_playlist", `{"playlist": "Calm", "file": "file://$HOME/calm.pls"}`)
	w.shows(`one\.wav`, "cat", "$HOME/calm.pls")
	r.acts("remove_from_playlist", `{"playlist": "Calm", "address": "file://$HOME/one.wav"}`)
	r.acts("delete_playlist", `{"playlist": "Calm"}`)
	if left := strings.Join(r.list("playlists", `{}`), "\n"); strings.Contains(left, "Calm") {
		w.Errorf("delete_playlist: still %s", left)
	}
	r.acts("quit", `{}`)
	w.ended(done, "rhythmbox")
}

func checkNautilus(w *world) {
	w.write("docs/a.txt", "hello\n")
	w.start("nautilus", "--new-window", "$HOME/docs")
	w.windows(`docs`, "org.gnome.Nautilus")
	n := w.app("org.gnome.Nautilus")
	n.acts("rename", `{"file": "file://$HOME/docs/a.txt", "name": "b.txt"}`)
	w.file("docs/b.txt", "hello\n")
	n.acts("create_folder", `{"in": "file://$HOME", "name": "new"}`)
	w.shows(`^$`, "ls", "$HOME/new")
	n.acts("copy", `{"files": ["file://$HOME/docs/b.txt"], "folder": "file://$HOME/new"}`)
	w.file("new/b.txt", "hello\n")
	n.acts("move", `{"files": ["file://$HOME/docs/b.txt"], "folder": "file://$HOME"}`)
	w.file("b.txt", "hello\n")
	w.noFile("docs/b.txt")
	n.acts("move_to_trash", `{"files": ["file://$HOME/b.txt"]}`)
	w.noFile("b.txt")
	w.file(trashed+"b.txt", "hello\n")
	n.acts("show_folder", `{"folder": "file://$HOME/new"}`)
	w.windows(`new`, "org.gnome.Nautilus")
	n.acts("quit", `{}`)
	w.windows(`^$`, "nautilus")
}

func checkKded(w *world) {
	const service, object, module = "org.kde.kded5", "/kded", "remotenotifier"
	k := w.app(service)
	k.asBusctl("running", `{}`, "--user", service, object, service, "loadedModules")
	for tool, method := range map[string]string{"starts_with_desktop": "isModuleAutoloaded", "starts_on_demand": "isModuleLoadedOnDemand"} {
		k.asBusctl(tool, `{"service": "`+module+`"}`, "--user", service, object, service, method, "s", module)
	}
	k.gives("start", `{"service": "`+module+`"}`, `true`)
	k.has("running", `{}`, module)
	w.shows(module, "gdbus", "call", "--session", "--dest", service, "--object-path", object, "--method", service+".loadedModules")
	k.gives("stop", `{"service": "`+module+`"}`, `true`)
	k.gives("start", `{"service": "nobody-has-this"}`, `false`)
	for _, on := range []string{"false", "true"} {
		k.acts("set_starts_with_desktop", `{"service": "`+module+`", "on": `+on+`}`)
		k.gives("starts_with_desktop", `{"service": "`+module+`"}`, on)
		w.shows(module+`\]\nautoload=`+on, "cat", "$HOME/.config/kded5rc")
	}
}
