package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"aai/internal/hygiene"
)

// How far a clock may be off before it is said: files of other computers may be minutes
// ahead, and a program is used for years.
const (
	ahead = 10 * time.Minute
	aged  = 15 * 365 * 24 * time.Hour
)

// clock says whether the time can be right: no file is from the future, and the program
// was made before it.
func (d *Doctor) clock(_ context.Context, f *Finding) {
	now := d.cfg.Now()
	f.Did = "compared the clock with the times of files and of the program"
	if built := d.cfg.Built; !built.IsZero() && now.Before(built.Add(-ahead)) {
		d.wrongClock(f, fmt.Sprintf("the clock says %s, and this program was made on %s", when(now), when(built)), "")
		return
	}
	if file, at := d.newest(); at.After(now.Add(ahead)) {
		d.wrongClock(f, fmt.Sprintf("the clock says %s, and %s was written on %s", when(now), d.short(file), when(at)), file)
		return
	}
	if built := d.cfg.Built; !built.IsZero() && now.After(built.Add(aged)) {
		d.wrongClock(f, fmt.Sprintf("the clock says %s, %d years after this program was made", when(now), int(now.Sub(built)/(365*24*time.Hour))), "")
		return
	}
	f.well("%s can be right", when(now))
}

func when(t time.Time) string { return t.Format("2006-01-02 15:04") }

// wrongClock says how the clock is put right, or the file that is not.
func (d *Doctor) wrongClock(f *Finding, saw, file string) {
	command := asRoot("timedatectl set-ntp true")
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		command = asRoot("date -s 'YYYY-MM-DD hh:mm'")
	}
	const needs = "Logins, permissions that end, and the record need the right time. "
	if file == "" {
		f.broken(saw, needs+"Set it, as your watch has it:", command)
		return
	}
	f.broken(saw, needs+"If the clock is wrong, set it ("+command+"). If it is right, the file is not:", "touch "+hygiene.ShellWords(file))
}

// newest is the file with the latest time, of those that are written all the time or were
// written by the gateway.
func (d *Doctor) newest() (file string, at time.Time) {
	files := []string{d.cfg.Self, d.cfg.Settings, "/var/log/lastlog", "/var/lib/dpkg/status", "/var/lib/systemd/timesync/clock", "/etc/resolv.conf"}
	if entries, err := os.ReadDir(d.cfg.Data); err == nil {
		for _, e := range entries {
			files = append(files, filepath.Join(d.cfg.Data, e.Name()))
		}
	}
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.ModTime().After(at) {
			file, at = name, info.ModTime()
		}
	}
	return file, at
}
