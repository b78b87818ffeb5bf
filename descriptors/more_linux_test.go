package descriptors_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/descriptors"
)

// optionalProgram is the case of an app with a program that `make test` does not install.
type optionalProgram struct {
	program string // the file of the program
	check   func(*world)
}

// optionalCases returns the cases for the programs of more-packages.txt, by app.
func optionalCases() map[string]optionalProgram {
	return map[string]optionalProgram{
		"org.kde.kded5":                        {"/usr/bin/kded5", checkKded},
		"org.kde.okular":                       {"/usr/bin/okular", checkOkular},
		"org.flameshot.Flameshot":              {"/usr/bin/flameshot", checkFlameshot},
		"org.keepassxc.KeePassXC.MainWindow":   {"/usr/bin/keepassxc", checkKeePassXC},
		"io.github.celluloid_player.Celluloid": {"/usr/bin/celluloid", checkCelluloid},
		"org.gnome.Rhythmbox3":                 {"/usr/bin/rhythmbox", checkRhythmbox},
		"org.gnome.Nautilus":                   {"/usr/bin/nautilus", checkNautilus},
		"org.gnome.Gnote":                      {"/usr/bin/gnote", checkGnote},
		"org.gnome.Hamster":                    {"/usr/bin/hamster", checkHamster},
		"org.gnome.ArchiveManager1":            {"/usr/bin/file-roller", checkArchives},
		"org.gnome.TextEditor":                 {"/usr/bin/gnome-text-editor", checkTextEditor},
		"org.gnome.eog":                        {"/usr/bin/eog", checkImageViewer},
		"org.gnome.evince.Daemon":              {"/usr/bin/evince", checkEvince},
		"org.gnome.baobab":                     {"/usr/bin/baobab", checkBaobab},
		"org.gnome.SystemMonitor":              {"/usr/bin/gnome-system-monitor", checkSystemMonitor},
		"org.gnome.clocks":                     {"/usr/bin/gnome-clocks", checkClocks},
		"org.gnome.Characters":                 {"/usr/bin/gnome-characters", checkCharacters},
		"net.hadess.PowerProfiles":             {"/usr/libexec/power-profiles-daemon", checkPowerProfiles},
		"org.freedesktop.Accounts":             {"/usr/libexec/accounts-daemon", checkAccounts},
		"org.freedesktop.ColorManager":         {"/usr/libexec/colord", checkColours},
		"org.freedesktop.UDisks2":              {"/usr/libexec/udisks2/udisksd", checkUDisks},
		"org.freedesktop.locale1":              {"/lib/systemd/systemd-localed", checkLocale},
		"net.sacredchao.QuodLibet":             {"/usr/bin/quodlibet", checkQuodLibet},
		"org.atheme.audacious":                 {"/usr/bin/audacious", checkAudacious},
		"org.mpris.MediaPlayer2.playerctld":    {"/usr/bin/playerctld", checkPlayerctld},
	}
}

// TestMorePrograms is TestRealPrograms for the many programs of more-packages.txt, only with
// AAI_APPS=all (make test-apps).
func TestMorePrograms(t *testing.T) {
	if os.Getenv("AAI_APPS") != "all" {
		return
	}
	for id, c := range optionalCases() {
		t.Run(id, func(t *testing.T) {
			_, err := os.Stat(c.program)
			assert.NilError(t, err, "%s is missing; `scripts/need-packages descriptors/more-packages.txt` installs it", c.program)
			checkApp(t, id, c.check)
		})
	}
}

// Every case belongs to an existing app.
func TestMoreCasesAreOfApps(t *testing.T) {
	for id := range optionalCases() {
		_, err := descriptors.FS().Open(id + "/aai.json")
		assert.Check(t, err, id)
	}
}

// matchesBusctl waits until a call returns the same as busctl: for a method, with its arguments
// and their signature first, or for a property, if the member is ".Name".
func (a *app) matchesBusctl(tool, args, bus, service, object, iface, member string, more ...string) {
	a.Helper()
	a.eventually(func() error {
		want := a.busctl(bus, service, object, iface, member, more...)
		if diff := cmp.Diff(want, a.call(tool, args)); diff != "" {
			return fmt.Errorf("%s %s %s: busctl says - but got +:\n%s", a.id, tool, args, diff)
		}
		return nil
	})
}

// busctl queries a program with busctl; bus is "--user" or "--system". Several values are a list.
func (s *session) busctl(bus, service, object, iface, member string, more ...string) any {
	s.Helper()
	words := []string{bus, "--json=short", "call", service, object, iface, member}
	property, isProperty := strings.CutPrefix(member, ".")
	if isProperty {
		words = []string{bus, "--json=short", "get-property", service, object, iface, property}
	}
	text := s.output("busctl", append(words, more...)...)
	var answer struct{ Data any }
	err := json.Unmarshal([]byte(text), &answer)
	assert.NilError(s, err, "busctl %q says %s: %v", words, text, err)
	if values, ok := answer.Data.([]any); ok && !isProperty && len(values) == 1 {
		return plain(values[0])
	}
	return plain(answer.Data)
}

// plain returns a value of busctl without the types of variants.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if _, typed := v["type"].(string); typed && len(v) == 2 && v["data"] != nil {
			return plain(v["data"])
		}
		for key, item := range v {
			v[key] = plain(item)
		}
	case []any:
		for i, item := range v {
			v[i] = plain(item)
		}
	}
	return value
}
