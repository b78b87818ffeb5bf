package doctor

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/gybob/aai-gateway"
)

// gateways reports other running gateways of this user and home.
func (d *Doctor) gateways(_ context.Context, f *Finding) {
	self, _ := os.Readlink("/proc/self/exe")
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		f.setCallError("the running processes are unknown", err)
		return
	}
	var pids []string
	for _, folder := range folders {
		pid, _ := strconv.Atoi(filepath.Base(folder))
		info, err := os.Stat(folder)
		if err != nil || pid == os.Getpid() {
			continue
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		exe, err := os.Readlink(filepath.Join(folder, "exe"))
		if !ok || int(stat.Uid) != os.Getuid() || err != nil || exe != self && filepath.Base(exe) != "aai-gateway" ||
			!d.sharesHome(folder) {
			continue
		}
		if what, serves := d.serverKind(folder); serves {
			pids = append(pids, strconv.Itoa(pid))
			f.Details = append(f.Details, fmt.Sprintf("process %d: %s", pid, what))
		}
	}
	if len(pids) == 0 {
		f.setOK("none runs")
		return
	}
	f.setNote(aai.Count(len(pids), "other gateway")+
		" of yours: they share the journal, the permissions and the input lock, and take turns",
		"This is normal when several agents are at work. Otherwise end them:", "kill "+strings.Join(pids, " "))
}

// sharesHome reports whether a process was started with this home. If the environment is
// unreadable, it reports false, so that the process is not ended.
func (d *Doctor) sharesHome(folder string) bool {
	env, err := os.ReadFile(filepath.Join(folder, "environ"))
	if err != nil {
		return false
	}
	home := lookup(strings.Split(string(env), "\x00"))("HOME")
	if home == d.cfg.Home {
		return true
	}
	one, err := os.Stat(home)
	if err != nil {
		return false
	}
	other, err := os.Stat(d.cfg.Home)
	return err == nil && os.SameFile(one, other)
}

// serverKind describes a process of this program that serves agents and is not a child of this
// process.
func (d *Doctor) serverKind(folder string) (what string, serves bool) {
	status, _ := os.ReadFile(filepath.Join(folder, "status"))
	if bytes.Contains(status, []byte("\nPPid:\t"+strconv.Itoa(os.Getpid())+"\n")) ||
		bytes.Contains(status, []byte("\nState:\tZ")) {
		return "", false
	}
	line, err := os.ReadFile(filepath.Join(folder, "cmdline"))
	if err != nil {
		return "", false
	}
	words := strings.Split(strings.Trim(string(line), "\x00"), "\x00")[1:]
	switch {
	case slices.Contains(words, "serve") && slices.Contains(words, "--http"):
		return "serves over HTTP", true
	case slices.Contains(words, "serve"), len(words) == 0, slices.Contains(words, "--mcp"):
		return "serves on standard input", true
	}
	return "", false
}
