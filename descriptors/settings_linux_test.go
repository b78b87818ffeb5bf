package descriptors_test

import (
	"bytes"
	"crypto/md5" // names of thumbnail files by the standard
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func checkXfconf(w *world) {
	x := w.app("org.xfce.Xfconf")
	listed := strings.Fields(w.output("xfconf-query", "-l"))[1:] // after the heading
	slices.Sort(listed)
	channels := x.list("list_channels", `{}`)
	slices.Sort(channels)
	diff := cmp.Diff(listed, channels)
	assert.Check(w, is.Equal(diff, ""))
	assert.Check(w, len(channels) != 0, "list_channels: xfconf-query says - but got +:\n%s", diff)
	for _, set := range []struct{ property, value, shown string }{
		{"/a/number", `42`, `^42$`},
		{"/a/text", `"hi"`, `^hi$`},
		{"/a/flag", `true`, `^true$`},
		{"/a/real", `1.5`, `^1\.50*$`},
		{"/a/whole", `{"signature": "d", "value": 2}`, `^2\.00*$`},
		{"/a/list", `{"signature": "av", "value": [1, 2]}`, `2 items:\n\n1\n2`},
	} {
		x.callsVoid("set_property", fmt.Sprintf(`{"channel": "aai-test", "property": %q, "value": %s}`, set.property, set.value))
		w.shows(set.shown, "xfconf-query", "-c", "aai-test", "-p", set.property)
	}
	x.gives("get_property", `{"channel": "aai-test", "property": "/a/number"}`, `42`)
	x.fails("get_property", `{"channel": "aai-test", "property": "/nope"}`, aai.AutomationFailed, "PropertyNotFound")
	x.gives("get_all_properties", `{"channel": "aai-test"}`,
		`{"/a/number": 42, "/a/text": "hi", "/a/flag": true, "/a/real": 1.5, "/a/whole": 2.0, "/a/list": [1, 2]}`)
	w.shows(`^/a/flag\n/a/list\n/a/number\n/a/real\n/a/text\n/a/whole$`, "xfconf-query", "-c", "aai-test", "-l")

	const text = `{"channel": "aai-test", "property": "/a/text"}`
	x.gives("property_exists", text, `true`)
	x.gives("is_property_locked", text, `false`)
	x.callsVoid("reset_property", text)
	w.shows(`does not exist`, "xfconf-query", "-c", "aai-test", "-p", "/a/text")
	x.gives("property_exists", text, `false`)
}

func checkTumbler(w *world) {
	var picture bytes.Buffer
	assert.NilError(w, png.Encode(&picture, image.NewGray(image.Rect(0, 0, 300, 200))))
	w.write("pic.png", picture.String())
	// Otherwise it first lets GStreamer scan all its plug-ins. On a busy computer that exceeds the
	// bus's start timeout.
	w.write(".config/tumbler/tumbler.rc", "[GstThumbnailer]\nDisabled=true\n")

	b := w.app("org.xfce.Tumbler")
	b.has("flavors", `{}`, "normal", "large", "x-large", "xx-large")
	b.has("schedulers", `{}`, "default", "foreground", "background")
	supported, _ := b.call("supported_types", `{}`).(map[string]any)
	schemes, _ := supported["uri_schemes"].([]any)
	types, _ := supported["mime_types"].([]any)
	isPair := false
	for i := range min(len(schemes), len(types)) {
		isPair = isPair || schemes[i] == "file" && types[i] == "image/png"
	}
	assert.Assert(w, isPair, "supported_types: expected file and image/png at one place of two equally long lists, got %v", supported)
	assert.Assert(w, is.Len(schemes, len(types)), supported)

	sum := md5.Sum([]byte("file://" + w.home + "/pic.png"))
	thumbnail := ".cache/thumbnails/normal/" + hex.EncodeToString(sum[:]) + ".png"
	handle := b.number("make_thumbnails", `{"uris": ["file://$HOME/pic.png"], "mime_types": ["image/png"]}`)
	w.eventually(func() error {
		file, err := os.Open(filepath.Join(w.home, thumbnail))
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		made, err := png.DecodeConfig(file)
		if err == nil && (made.Width != 128 || made.Height > 128) {
			err = fmt.Errorf("the thumbnail is %d × %d", made.Width, made.Height)
		}
		return err
	})
	b.callsVoid("cancel", fmt.Sprintf(`{"handle": %v}`, handle))
	b.callsVoid("delete_thumbnails", `{"uris": ["file://$HOME/pic.png"]}`)
	w.noFile(thumbnail)
}
