package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// hungBackoff is the time without queries after login1 did not answer in time.
const hungBackoff = time.Minute

// An environment is the environment of another program.
type environment struct {
	values map[string]string
	from   string
}

// sources caches the results from login1, the user manager and the session's programs. All
// parts of the session share one query.
type sources struct {
	mu    sync.Mutex
	known *facts
	until time.Time
}

// facts are the results of one query.
type facts struct {
	logins    logins
	login1Err error // why login1 reported no sessions, or not all
	login     *Login
	remote    bool // this process is in a remote session, and no other was chosen
	manager   environment
	programs  []environment // in the session's scope
}

// facts returns the cached facts, or queries them.
func (r *Detector) facts() *facts {
	r.sources.mu.Lock()
	defer r.sources.mu.Unlock()
	if r.sources.known != nil && time.Now().Before(r.sources.until) {
		return r.sources.known
	}
	f := r.gather()
	r.sources.known, r.sources.until = f, time.Now().Add(r.cfg.RetryAfter)
	if errors.Is(f.login1Err, context.DeadlineExceeded) {
		r.sources.until = time.Now().Add(hungBackoff)
	}
	return f
}

// gather queries login1 and the user manager at the same time, and then reads /proc.
func (r *Detector) gather() *facts {
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.Patience)
	defer cancel()
	f := &facts{}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		f.logins, f.login1Err = askLogin1(ctx, wire.SystemAddress(r.cfg.Getenv))
		if ctx.Err() != nil {
			f.login1Err = ctx.Err()
		}
	}()
	manager, err := r.askUserManager(ctx)
	if err != nil {
		r.cfg.Log.Debug("the user manager said nothing of the session", "cause", err)
	}
	<-asked
	if f.login1Err != nil {
		r.cfg.Log.Debug("login1 said nothing of the session", "cause", f.login1Err)
	}
	f.remote = r.cfg.Choice == "" && (f.logins.own != nil && f.logins.own.Remote ||
		r.cfg.Getenv("SSH_CONNECTION") != "" && r.cfg.Getenv(displayName) == "")
	f.login = f.logins.choose(r.cfg.Choice, f.remote)
	if manager[PrivateMark] == "" {
		f.manager = environment{manager, "the user manager"}
	}
	scope := r.ownScope()
	if f.login != nil && f.login.scope != "" {
		scope = f.login.scope
	}
	f.programs = r.inScope(scope)
	return f
}

// askUserManager queries the environment of the user manager, on the bus in the runtime
// folder.
func (r *Detector) askUserManager(ctx context.Context) (map[string]string, error) {
	folder, err := r.userFolder()
	if err != nil {
		return nil, err
	}
	address := busIn(folder)
	if _, err := r.checkBus(ctx, address); err != nil {
		return nil, err
	}
	return askManager(ctx, address)
}

// environments returns the environments of the user manager and of the session's
// programs.
func (f *facts) environments() []environment {
	return append([]environment{f.manager}, f.programs...)
}

// choose returns the person's session, by their choice or else by the session of this
// process, or nil if that is unknown.
func (l logins) choose(choice string, remote bool) *Login {
	seat := ""
	if l.own != nil {
		seat = l.own.Seat
	}
	var best *Login
	points := 0
	for i := range l.all {
		s := &l.all[i]
		is := 0
		switch {
		case choice == ChoiceAnySeat:
			is = score(s.graphical() && !s.Remote && s.Seat != "", s.Active, s.path == l.display)
		case choice != "":
			is = score(s.ID == choice || s.display != "" && displayNumber(s.display) == displayNumber(choice))
		case l.own != nil && s.path == l.own.path && (remote || s.graphical()):
			return s
		case !remote:
			is = score(s.graphical(), !s.Remote, seat != "" && s.Seat == seat, s.Active, s.path == l.display)
		}
		if is > points {
			best, points = s, is
		}
	}
	return best
}

// score returns 0 if must is false. Otherwise true values of more raise the score, earlier
// ones more than later ones.
func score(must bool, more ...bool) int {
	if !must {
		return 0
	}
	points := 1
	for _, one := range more {
		points *= 2
		if one {
			points++
		}
	}
	return points
}

// userFolder returns the runtime folder, /run/user/<uid>, if only this user can write to it.
func (r *Detector) userFolder() (string, error) {
	folder := filepath.Join(r.cfg.RunUser, strconv.Itoa(os.Getuid()))
	info, err := os.Lstat(folder)
	if err != nil {
		return "", fmt.Errorf("there is no %s", folder)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return "", fmt.Errorf("%s is no folder", folder)
	case !ok || stat.Uid != uint32(os.Getuid()):
		return "", fmt.Errorf("%s is another user's", folder)
	case info.Mode()&fs.FileMode(0o022) != 0:
		return "", fmt.Errorf("others may write into %s", folder)
	}
	return folder, nil
}

// busIn returns the address of the bus in a runtime folder.
func busIn(folder string) string {
	return "unix:path=" + (&url.URL{Path: filepath.Join(folder, "bus")}).EscapedPath()
}

// reportLogins adds login1's sessions to a report.
func (r *Detector) reportLogins(report *Report) {
	if r.isPrivate() {
		return
	}
	f := r.facts()
	report.Remote = f.remote
	if f.login1Err != nil {
		report.Login1Problem = f.login1Err.Error()
	}
	own := f.login
	if own == nil {
		own = f.logins.own
	}
	for _, l := range f.logins.all {
		if own != nil && l.path == own.path {
			report.Session = own
		} else if l.graphical() {
			report.Others = append(report.Others, l)
		}
	}
}
