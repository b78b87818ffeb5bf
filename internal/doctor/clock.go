package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// How far a clock may be off before it is said: files of other computers may be minutes
// ahead, and a program is used for years.
const (
	maxClockSkew  = 10 * time.Minute
	maxProgramAge = 15 * 365 * 24 * time.Hour
)

// clock says whether the time can be right: no file is from the future, and the program
// was made before it.
func (d *Doctor) clock(_ context.Context, f *Finding) {
	now := d.cfg.Now()
	f.Did = "compared the clock with the times of files and of the program"
	built := d.cfg.BuildTime
	file, at := d.newest()
	switch {
	case !built.IsZero() && now.Before(built.Add(-maxClockSkew)):
		d.wrongClock(f, fmt.Sprintf("the clock says %s, and this program was made on %s", when(now), when(built)), built)
	case at.After(now.Add(maxClockSkew)):
		d.wrongFile(f, fmt.Sprintf("the clock says %s, and %s was written on %s", when(now), d.shortPath(file), when(at)), file, at)
	case !built.IsZero() && now.After(built.Add(maxProgramAge)):
		d.wrongClock(f, fmt.Sprintf("the clock says %s, %d years after this program was made", when(now), int(now.Sub(built)/(365*24*time.Hour))), built)
	default:
		f.setOK("%s can be right", when(now))
	}
}

func when(t time.Time) string { return t.Format("2006-01-02 15:04") }

// needsClock is why it matters.
const needsClock = "Logins, permissions that end, and the record need the right time. "

// wrongClock says how the clock is put right; it can be no earlier than that. As it is
// printed the command brings it so far that it can be right.
func (d *Doctor) wrongClock(f *Finding, saw string, earliest time.Time) {
	byHand := asRoot(setClockCommand(earliest))
	if command := clockSyncCommand(); command != "" {
		f.setBroken(saw, needsClock+"Have it set by the network; without one, by hand, with the time of your watch: "+byHand, asRoot(command))
		return
	}
	f.setBroken(saw, needsClock+"Set it, with the time of your watch in the place of this one:", byHand)
}

// wrongFile says what is done if a file is wrong, and what if the clock is.
func (d *Doctor) wrongFile(f *Finding, saw, file string, at time.Time) {
	f.setBroken(saw, needsClock+"If the clock is wrong, set it to the time of your watch ("+asRoot(setClockCommand(at))+"). If it is right, the file is not:", "touch "+sanitize.ShellJoin(file))
}

// setClockCommand is the command that sets the clock to a time, to the minute above it.
func setClockCommand(t time.Time) string { return "date -s '" + when(t.Local().Add(time.Minute)) + "'" }

// clockSyncCommand is the command by which a computer sets its clock by the network, "" where
// nothing on it does.
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

// newest is the file with the latest time, of those that are written all the time or were
// written by the gateway.
func (d *Doctor) newest() (file string, at time.Time) {
	files := []string{d.cfg.Executable, d.cfg.Settings, "/var/log/lastlog", "/var/lib/dpkg/status", "/var/lib/systemd/timesync/clock", "/etc/resolv.conf"}
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
