package aai_test

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// The golden hashes are from sha256sum(1).
func TestWireNameGolden(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"app:com.apple.reminders", "app_com_apple_reminders"},
		{"app:org.gnome.Calculator", "app_org_gnome_Calculator"},
		{"web:discover", "web_discover"},
		{"aai:exec", "aai_exec"},
		{"a-b.c", "a-b_c"},
		{"a..b", "a__b"},
		{"app:org.freedesktop.impl.portal.desktop.gnome1", "app_org_freedesktop_impl_portal_desktop_gnome1"},
		{"app:org.freedesktop.impl.portal.desktop.gnomes1", "app_org_freedesktop_impl_portal_desktop_6fcbfe"},
		{"app:org.example." + strings.Repeat("x", 60), "app_org_example_" + strings.Repeat("x", 23) + "_f2b953"},
		{"my_" + strings.Repeat("x", 37), "my_" + strings.Repeat("x", 36) + "_4efa65"}, // 40, of which 39 fit
		{"my_app:do_it", "my_app_do_it_dd3f61"},
		{"shop.example/org.example.Shop", "shop_example_org_example_Shop_336a5d"},
		{"a b", "a_b_c8687a"},
		{"9lives", "x9lives_bc8673"},
		{"", "x_e3b0c4"},
		{":", "x_e7ac07"},
		{"_", "x_d2e2ad"},
		{"日历", "x_a00f29"},
		{"\x00\xff", "x_06eb7d"},
	} {
		assert.Check(t, is.Equal(aai.WireName(c.id), c.want), "%q", c.id)
	}
}

// TestWireNamesCanMeet checks the documented fact that two ids can have the same name, so that no
// code relies on the contrary.
func TestWireNamesCanMeet(t *testing.T) {
	for _, pair := range [][2]string{
		{"app:a.b", "app.a:b"},
		{"1", "x1.6b86b2"}, // made on purpose: the hash of the first, spelled out
	} {
		if a, b := aai.WireName(pair[0]), aai.WireName(pair[1]); a != b {
			t.Errorf("%q is %q and %q is %q", pair[0], a, pair[1], b)
		}
	}
}

func FuzzWireName(f *testing.F) {
	for _, id := range []string{
		"app:com.apple.reminders", "aai:exec", "", "_", "a_", "a__b", "日历", "9", "-", ":", ".",
		"a\x00b", "\xff", strings.Repeat("a", 46), strings.Repeat("a", 47), strings.Repeat("a.", 30),
		"app:" + strings.Repeat("日", 40), strings.Repeat("_", 100),
	} {
		f.Add(id)
	}
	allowed := regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,45}$`)
	f.Fuzz(func(t *testing.T, id string) {
		name := aai.WireName(id)
		assert.Check(t, allowed.MatchString(name), "WireName(%q) = %q, want at most 46 of letters, digits, \"_\" and \"-\", a letter first", id, name)
		again := aai.WireName(strings.Clone(id))
		assert.Check(t, is.Equal(again, name), "WireName(%q) = %q, then %q", id, name, again)
		suffix := fmt.Sprintf("_%x", sha256.Sum256([]byte(id)))[:7]
		body, hashed := strings.CutSuffix(name, suffix)
		assert.Check(t, !hashed || !strings.HasSuffix(body, "_"), "WireName(%q) = %q has two \"_\" before its hash", id, name)
		assert.Check(t, hashed || name == strings.NewReplacer(":", "_", ".", "_").Replace(id), "WireName(%q) = %q has no hash, but is not the id", id, name)
	})
}

// TestWireNameInjective: ids of this form, which is that of app ids, never meet.
func TestWireNameInjective(t *testing.T) {
	ids := rapid.StringMatching(`[a-z][a-z0-9.-]{0,45}`)
	near := rapid.Custom(func(t *rapid.T) [2]string {
		a := ids.Draw(t, "id")
		at := rapid.IntRange(0, len(a)-1).Draw(t, "at")
		c := rapid.SampledFrom([]string{"", ".", "-", "a", "0", "_"}).Draw(t, "instead")
		return [2]string{a, a[:at] + c + a[at+1:]}
	})
	rapid.Check(t, func(t *rapid.T) {
		pair := [2]string{ids.Draw(t, "a"), ids.Draw(t, "b")}
		if rapid.Bool().Draw(t, "near") {
			pair = near.Draw(t, "pair")
		}
		a, b := aai.WireName(pair[0]), aai.WireName(pair[1])
		assert.Equal(t, (a == b), (pair[0] == pair[1]), "%q %q %q %q", pair[0], a, pair[1], b)
	})
}
