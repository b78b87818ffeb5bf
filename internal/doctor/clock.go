package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Tolerances of the clock check: files from other computers may be minutes ahead, and a program
// may be years old.
const (
	maxClockSkew  = 10 * time.Minute
	maxProgramAge = 15 * 365 * 24 * time.Hour
)

// clock checks that the time is plausible: no file is from the future, and the program was built
// earlier.
func (d *Doctor) clock(_ context.Context, f *Finding) {
	now := d.cfg.Now()
	built := d.cfg.BuildTime
	file, at := d.newest()
	switch {
	case !built.IsZero() && now.Before(built.Add(-maxClockSkew)):
		d.wrongClock(f, fmt.Sprintf("the clock says %s, and this program was made on %s", when(now), when(built)), built)
	case at.After(now.Add(maxClockSkew)):
		d.wrongFile(f, fmt.Sprintf("the clock says %s, and %s was written on %s", when(now), d.shortPath(file), when(at)),
			file, at)
	case !built.IsZero() && now.After(built.Add(maxProgramAge)):
		d.wrongClock(f, fmt.Sprintf("the clock says %s, %d years after this program was made", when(now),
			int(now.Sub(built)/(365*24*time.Hour))), built)
	default:
		f.setOK("%s is plausible", when(now))
	}
}

func when(t time.Time) string { return t.Format("2006-01-02 15:04") }

// needsClock explains the need for a correct clock.
const needsClock = "Logins, expiring permissions and the journal need the right time. "

// wrongClock suggests commands that set the clock. The suggested time is the earliest plausible
// one.
func (d *Doctor) wrongClock(f *Finding, saw string, earliest time.Time) {
	byHand := asRoot(setClockCommand(earliest))
	if command := clockSyncCommand(); command != "" {
		f.setBroken(saw, needsClock+"Let the network set it; without a network set it by hand: "+byHand, asRoot(command))
		return
	}
	f.setBroken(saw, needsClock+"Set it, with the correct time in the command:", byHand)
}

// wrongFile suggests commands for both cases: the file's time is wrong, or the clock is.
func (d *Doctor) wrongFile(f *Finding, saw, file string, at time.Time) {
	f.setBroken(saw, needsClock+"If the clock is wrong, set it to the correct time ("+asRoot(setClockCommand(at))+
		"). If it is right, the file's time is wrong:", "touch "+sanitize.ShellJoin(file))
}

// setClockCommand returns the command that sets the clock to t, rounded up to the minute.
func setClockCommand(t time.Time) string { return "date -s '" + when(t.Local().Add(time.Minute)) + "'" }

// clockSyncCommand returns the command that enables network time, or "" if no installed service
// provides it.
func clockSyncCommand() string {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return ""
	}
	for _, service := range []string{"systemd-timesyncd", "chrony", "chronyd", "ntpsec", "ntpd"} {
		for _, folder := range []string{"/usr/lib/systemd/system", "/lib/systemd/system", "/etc/systemd/system"} {
			if _, err := os.Stat(filepath.Join(folder, service+".service")); err == nil {
				return "timedatectl set-ntp true"
			}
		}
	}
	return ""
}

// newest returns the file with the latest time, of files that the system or the gateway writes
// often.
func (d *Doctor) newest() (file string, at time.Time) {
	files := []string{d.cfg.Executable, d.cfg.Settings, "/var/log/lastlog", "/var/lib/dpkg/status",
		"/var/lib/systemd/timesync/clock", "/etc/resolv.conf"}
	if entries, err := os.ReadDir(d.cfg.DataDir); err == nil {
		for _, e := range entries {
			files = append(files, filepath.Join(d.cfg.DataDir, e.Name()))
		}
	}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(at) {
			file, at = name, info.ModTime()
		}
	}
	return file, at
}
