package descriptors_test

import (
	"fmt"
	"os"
	"regexp"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// playsAs compares the tools of all media players with playerctl. The current track is one.wav.
func (a *app) playsAs(player string) {
	a.Helper()
	shows := func(pattern, what string) {
		a.Helper()
		a.shows(pattern, "playerctl", "-p", player, what)
	}
	for _, step := range []struct{ tool, status string }{
		{"pause", "Paused"}, {"play", "Playing"}, {"play_pause", "Paused"}, {"play_pause", "Playing"},
	} {
		a.callsVoid(step.tool, `{}`)
		shows(`^`+step.status+`$`, "status")
		a.eventuallyGives("status", `{}`, fmt.Sprintf("%q", step.status))
	}
	a.callsVoid("pause", `{}`)
	shows(`^Paused$`, "status")
	a.matchesBusctl("position", `{}`, "--user", "org.mpris.MediaPlayer2."+player, "/org/mpris/MediaPlayer2",
		"org.mpris.MediaPlayer2.Player", ".Position")
	playing, _ := a.call("now_playing", `{}`).(map[string]any)
	assert.Check(a, is.Equal(playing["xesam:url"], a.expand("file://$HOME/one.wav")), "now_playing: expected one.wav in %v", playing)
	a.callsVoid("set_volume", `{"value": 0.5}`)
	shows(`^0\.50*$`, "volume")
	a.eventuallyGives("volume", `{}`, `0.5`)
}

// ended waits until a program has ended.
func (s *session) ended(done <-chan struct{}, name string) {
	s.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		s.Errorf("%s goes on", name)
	}
}

func checkPlayerctld(w *world) {
	const service, object, iface = "org.mpris.MediaPlayer2.playerctld", "/org/mpris/MediaPlayer2", "com.github.altdesktop.playerctld"
	w.write("one.wav", silence(200))
	w.write("two.wav", silence(200))
	w.start("mpv", "--no-terminal", "--vo=null", "--ao=null", "--idle=yes", "--pause", "$HOME/one.wav", "$HOME/two.wav")
	w.playing("one.wav")
	w.shows(`interface org\.mpris\.MediaPlayer2\.Player `, "gdbus", "introspect", "--session", "--dest", service, "--object-path", object)
	p := w.app(service)
	p.gives("player", `{}`, `"mpv"`)
	p.gives("players", `{}`, `["org.mpris.MediaPlayer2.mpv"]`)
	p.playsAs("mpv")
	p.callsVoid("next", `{}`)
	w.shows(`^two.wav$`, "playerctl", "-p", "mpv", "metadata", "xesam:title")
	p.callsVoid("previous", `{}`)
	w.shows(`^one.wav$`, "playerctl", "-p", "mpv", "metadata", "xesam:title")
	p.gives("next_player", `{}`, `"org.mpris.MediaPlayer2.mpv"`)
	p.gives("previous_player", `{}`, `"org.mpris.MediaPlayer2.mpv"`)
	p.matchesBusctl("players", `{}`, "--user", service, object, iface, ".PlayerNames")
	p.callsVoid("stop", `{}`)
	w.shows(`^Stopped$`, "playerctl", "-p", "mpv", "status")
}

func checkAudacious(w *world) {
	w.write("one.wav", silence(200))
	w.write("two.wav", silence(150))
	w.write(".config/audacious/config", "[audacious]\nrepeat=FALSE\n[audgui]\nno_confirm_playlist_delete=TRUE\n")
	w.sound()
	done := w.start("audacious", "$HOME/one.wav")
	w.onBus("--session", "org.atheme.audacious")
	w.shows(`.`, "playerctl", "-p", "audacious", "status")
	a := w.app("org.atheme.audacious")
	tool := func(words ...string) string { return w.output("audtool", words...) }
	says := func(name, args string, words ...string) {
		w.Helper()
		w.eventually(func() error {
			if got, want := fmt.Sprint(a.call(name, args)), tool(words...); got != want {
				return fmt.Errorf("%s: audtool %q says %s, got %s", name, words, want, got)
			}
			return nil
		})
	}
	w.shows(`^Audacious `+regexp.QuoteMeta(a.text("version", `{}`))+`$`, "audtool", "version")
	w.shows(`^playing$`, "audtool", "playback-status")
	a.callsVoid("pause", `{}`)
	w.shows(`^paused$`, "audtool", "playback-status")
	says("status", `{}`, "playback-status")
	a.callsVoid("add", `{"address": "file://$HOME/two.wav"}`)
	w.shows(`^2$`, "audtool", "playlist-length")
	says("count_tracks", `{}`, "playlist-length")
	w.shows(w.expand(`^$HOME/two\.wav$`), "audtool", "playlist-song-filename", "2") // without the URI scheme
	a.gives("address", `{"track": 1}`, `"file://$HOME/two.wav"`)
	says("title", `{"track": 1}`, "playlist-song", "2")
	w.shows(`^150$`, "audtool", "playlist-song-length-seconds", "2")
	says("seconds", `{"track": 1}`, "playlist-song-length-seconds", "2")
	a.callsVoid("jump", `{"track": 1}`)
	w.shows(`^2$`, "audtool", "playlist-position")
	a.gives("current", `{}`, `1`)
	for _, step := range []struct{ tool, look, shown string }{
		{"previous", "playlist-position", "1"}, {"next", "playlist-position", "2"},
		{"play", "playback-status", "playing"}, {"play_pause", "playback-status", "paused"},
	} {
		a.callsVoid(step.tool, `{}`)
		w.shows(`^`+step.shown+`$`, "audtool", step.look)
	}
	a.callsVoid("seek", `{"milliseconds": 60000}`)
	w.shows(`^(59|60)$`, "audtool", "current-song-output-length-seconds")
	at := a.number("position", `{}`)
	assert.Check(w, !(at < 59000), "position: got %v", at)
	assert.Check(w, !(at > 61000), "position: got %v", at)
	a.callsVoid("stop", `{}`)
	w.shows(`^stopped$`, "audtool", "playback-status")
	w.output("audtool", "set-volume", "30")
	w.shows(`^30$`, "audtool", "get-volume")
	a.eventuallyGives("volume", `{}`, `{"vl": 30, "vr": 30}`)
	for _, mode := range []struct{ act, look, status string }{
		{"toggle_shuffle", "is_shuffling", "playlist-shuffle-status"}, {"toggle_repeat", "is_repeating", "playlist-repeat-status"},
	} {
		for _, want := range []string{"on", "off"} {
			a.callsVoid(mode.act, `{}`)
			w.shows(`^`+want+`$`, "audtool", mode.status)
			a.gives(mode.look, `{}`, fmt.Sprint(want == "on"))
		}
	}
	a.gives("is_shown", `{}`, `true`)
	a.callsVoid("show", `{"shown": false}`)
	w.windows(`^$`, "audacious")
	a.callsVoid("show", `{"shown": true}`)
	w.windows(`Audacious`, "audacious")
	a.callsVoid("remove_track", `{"track": 1}`)
	w.shows(`^1$`, "audtool", "playlist-length")
	a.callsVoid("clear", `{}`)
	w.shows(`^0$`, "audtool", "playlist-length")
	a.callsVoid("quit", `{}`)
	w.ended(done, "audacious")
}

// sound gives the session a silent sound card.
func (s *session) sound() {
	s.Helper()
	s.start("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--load=module-null-sink", "--load=module-native-protocol-unix")
	s.eventually(func() error {
		_, err := os.Stat(s.run + "/pulse/native")
		return err
	})
}

func checkQuodLibet(w *world) {
	const service, object = "net.sacredchao.QuodLibet", "/net/sacredchao/QuodLibet"
	w.sound()
	w.write("one.wav", silence(200))
	w.write("two.wav", silence(200))
	w.start("quodlibet")
	w.onBus("--session", service)
	w.windows(`Quod Libet`, "quodlibet")
	q := w.app(service)
	q.gives("is_playing", `{}`, `false`)
	w.output("quodlibet", "--play-file", "$HOME/one.wav")
	q.eventuallyGives("is_playing", `{}`, `true`)
	song, _ := q.call("now_playing", `{}`).(map[string]any)
	assert.Check(w, is.Equal(song["~filename"], w.expand("$HOME/one.wav")), "now_playing: expected one.wav in %v", song)
	for _, step := range []struct {
		tool, result string
		plays        bool
	}{{"pause", "null", false}, {"play", "null", true}, {"play_pause", "true", false}, {"play_pause", "false", true}, {"pause", "null", false}} {
		q.gives(step.tool, `{}`, step.result)
		w.shows(fmt.Sprintf(`^\(%t,\)$`, step.plays), "gdbus", "call", "--session", "--dest", service,
			"--object-path", object, "--method", service+".IsPlaying")
	}
	w.shows(`^paused`, "quodlibet", "--status")
	q.matchesBusctl("position", `{}`, "--user", service, object, service, "GetPosition")
	q.matchesBusctl("search", `{"query": "nobody has this"}`, "--user", service, object, service, "Query", "s", "nobody has this")
	q.callsVoid("next", `{}`)
	q.callsVoid("previous", `{}`)
	w.output("quodlibet", "--quit")
}
