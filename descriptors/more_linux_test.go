package descriptors_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gybob/aai-gateway/descriptors"
)

// A more is the case of an app whose program `make test` does not install.
type optionalProgram struct {
	program string // the file without which there is no such program here
	check   func(*world)
}

// optionalCases are the cases for the programs of more-packages.txt, by app.
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

// TestMorePrograms is TestRealPrograms for the programs of more-packages.txt, of which there
// are so many that only AAI_APPS=all wants them (make test-apps).
func TestMorePrograms(t *testing.T) {
	if os.Getenv("AAI_APPS") != "all" {
		return
	}
	for id, c := range optionalCases() {
		t.Run(id, func(t *testing.T) {
			if _, err := os.Stat(c.program); err != nil {
				t.Fatalf("%s is missing; `scripts/need-packages descriptors/more-packages.txt` installs it", c.program)
			}
			checkApp(t, id, c.check)
		})
	}
}

// Every case is of an app that is here.
func TestMoreCasesAreOfApps(t *testing.T) {
	for id := range optionalCases() {
		if _, err := descriptors.FS().Open(id + "/aai.json"); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// matchesBusctl waits until a call gives what busctl says: of a method, its arguments with their
// signature first, or of a property, where the member is ".Name".
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

// busctl asks a program by busctl; bus is "--user" or "--system". Several values are a list.
func (s *session) busctl(bus, service, object, iface, member string, more ...string) any {
	s.Helper()
	words := []string{bus, "--json=short", "call", service, object, iface, member}
	property, isProperty := strings.CutPrefix(member, ".")
	if isProperty {
		words = []string{bus, "--json=short", "get-property", service, object, iface, property}
	}
	text := s.output("busctl", append(words, more...)...)
	var answer struct{ Data any }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		s.Fatalf("busctl %q says %s: %v", words, text, err)
	}
	if values, ok := answer.Data.([]any); ok && !isProperty && len(values) == 1 {
		return plain(values[0])
	}
	return plain(answer.Data)
}

// plain is a value of busctl's without the types of variants.
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
