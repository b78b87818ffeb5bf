package descriptors_test

import (
	"encoding/binary"
	"strings"

	"gotest.tools/v3/assert"
)

// silence returns a WAV file: 8000 samples per second of 16 bits, mono.
func silence(seconds int) string {
	const rate, width = 8000, 2
	size := uint32(seconds * rate * width)
	little := binary.LittleEndian
	b := []byte("RIFF")
	b = little.AppendUint32(b, 36+size)
	b = append(b, "WAVEfmt "...)
	b = little.AppendUint32(b, 16)
	b = little.AppendUint16(b, 1) // PCM
	b = little.AppendUint16(b, 1) // mono
	b = little.AppendUint32(b, rate)
	b = little.AppendUint32(b, rate*width)
	b = little.AppendUint16(b, width)
	b = little.AppendUint16(b, 8*width)
	b = append(b, "data"...)
	b = little.AppendUint32(b, size)
	return string(b) + strings.Repeat("\x00", int(size))
}

func checkMpv(w *world) {
	w.write("one.wav", silence(200)) // much longer than it plays, also on a busy computer
	w.write("two.wav", silence(200))
	ended := w.start("mpv", "--no-terminal", "--vo=null", "--ao=null", "--idle=yes", "--pause", "$HOME/one.wav", "$HOME/two.wav")
	w.playing("one.wav")

	m := w.app("io.mpv.Mpv")
	m.gives("identity", `{}`, `"mpv"`)
	m.eventuallyGives("now_playing", `{}`, `{"xesam:url": "file://$HOME/one.wav", "mpris:trackid": "/0", "xesam:title": "one.wav", "mpris:length": 200000000}`)
	checkMpvControls(w, m)
	checkMpvPositions(w, m)
	checkMpvTracks(w, m)

	m.callsVoid("quit", `{}`)
	w.ended(ended, "mpv")
	w.shows(`^(No players found)?$`, "playerctl", "-l")
}

// playing waits until the track with the title is loaded.
func (s *session) playing(title string) {
	s.Helper()
	s.shows(`^`+title+`$`, "playerctl", "metadata", "xesam:title")
}

func checkMpvControls(w *world, m *app) {
	m.eventuallyGives("status", `{}`, `"Paused"`)
	m.eventuallyGives("position", `{}`, `0`)
	for _, step := range []struct{ tool, status string }{
		{"play", "Playing"}, {"pause", "Paused"}, {"play_pause", "Playing"}, {"play_pause", "Paused"},
	} {
		m.callsVoid(step.tool, `{}`)
		w.shows(`^`+step.status+`$`, "playerctl", "status")
	}
	m.gives("status", `{}`, `"Paused"`)

	m.callsVoid("set_volume", `{"value": 0.5}`)
	w.shows(`^0\.50*$`, "playerctl", "volume")
	m.gives("volume", `{}`, `0.5`)
	m.callsVoid("set_volume", `{"value": 1}`)
	w.shows(`^1\.00*$`, "playerctl", "volume")
	m.checkUndo("set_volume", `{"value": 0.25}`, func() { w.shows(`^0\.250*$`, "playerctl", "volume") })
	w.shows(`^1\.00*$`, "playerctl", "volume")
	m.callsVoid("set_speed", `{"value": 1.5}`)
	w.property("1.5", "--session", "org.mpris.MediaPlayer2.mpv", "/org/mpris/MediaPlayer2", "org.mpris.MediaPlayer2.Player", "Rate")
	m.gives("speed", `{}`, `1.5`)
	m.callsVoid("set_loop", `{"value": "Playlist"}`)
	w.shows(`^Playlist$`, "playerctl", "loop")
	m.gives("loop", `{}`, `"Playlist"`)
}

// mpv seeks to within half a second.
func checkMpvPositions(w *world, m *app) {
	for _, step := range []struct{ tool, args, seconds string }{
		{"set_position", `{"TrackId": "/0", "Offset": 0}`, `^-?0\.`}, // it has played for a while
		{"seek", `{"Offset": 5000000}`, `^[45]\.`}, {"seek", `{"Offset": -2000000}`, `^[23]\.`},
		{"set_position", `{"TrackId": "/0", "Offset": 12000000}`, `^1[12]\.`},
	} {
		m.callsVoid(step.tool, step.args)
		w.shows(step.seconds, "playerctl", "position")
	}
	at := m.number("position", `{}`)
	assert.Check(w, !(at < 11e6), "position: got %v", at)
	assert.Check(w, !(at > 13e6), "position: got %v", at)
}

func checkMpvTracks(w *world, m *app) {
	m.callsVoid("next", `{}`)
	w.playing("two.wav")
	m.callsVoid("previous", `{}`)
	w.playing("one.wav")
	m.callsVoid("open", `{"Uri": "file://$HOME/two.wav"}`)
	w.playing("two.wav")
	m.callsVoid("stop", `{}`)
	w.shows(`^Stopped$`, "playerctl", "status")
	m.eventuallyGives("now_playing", `{}`, `{"mpris:trackid": "/noplaylist"}`)
	m.callsVoid("open", `{"Uri": "file://$HOME/one.wav"}`)
	w.playing("one.wav")
	m.callsVoid("play", `{}`)
	w.shows(`^Playing$`, "playerctl", "status")
}
