package session

import (
	"context"
	"errors"
	"os"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Names of systemd's services.
const (
	loginService   = "org.freedesktop.login1"
	loginPath      = "/org/freedesktop/login1"
	loginManager   = "org.freedesktop.login1.Manager"
	loginSession   = "org.freedesktop.login1.Session"
	loginUser      = "org.freedesktop.login1.User"
	managerService = "org.freedesktop.systemd1"
	managerPath    = "/org/freedesktop/systemd1"
	managerName    = "org.freedesktop.systemd1.Manager"
	properties     = "org.freedesktop.DBus.Properties"
)

// maxLogins is the maximum number of the person's sessions to read.
const maxLogins = 16

// A systemd is a connection to a bus with a service of systemd on it.
type systemd struct {
	conn    *wire.Conn
	service string
}

func dialSystemd(ctx context.Context, address, service string) (*systemd, error) {
	conn, err := wire.Dial(ctx, address, wire.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := conn.Hello(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return &systemd{conn, service}, nil
}

// ask calls a method and returns the reply, which must have the signature. It does not
// start the service.
func (s *systemd) ask(ctx context.Context, path, iface, member, signature string, body []byte,
	reply string) (*wire.Decoder, error) {
	answer, err := s.conn.Call(ctx, &wire.Message{
		Flags: wire.FlagNoAutoStart, Destination: s.service, Path: path, Interface: iface, Member: member,
		Signature: signature, Body: body,
	})
	switch {
	case err != nil:
		return nil, err
	case answer.Kind == wire.KindError:
		return nil, errors.New(aai.CleanLabel(answer.ErrorName, 100))
	case answer.Signature != reply:
		return nil, errors.New("it answered with the type " + aai.CleanLabel(answer.Signature, 40))
	}
	return answer.Decoder(), nil
}

// texts returns an object's properties of type string or boolean, and those of a pair of
// ID and path: the ID, and the path as "<name>.path".
func (s *systemd) texts(ctx context.Context, path, iface string) (map[string]string, error) {
	e := wire.Encoder{}
	e.Str(iface)
	d, err := s.ask(ctx, path, properties, "GetAll", "s", e.Bytes(), "a{sv}")
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	d.Array(8, func() {
		d.Struct()
		name := d.Str()
		switch signature := d.Variant(); signature {
		case "s":
			keep(found, name+"="+d.Str())
		case "b":
			if d.Bool() {
				found[name] = "yes"
			}
		case "(so)":
			d.Struct()
			keep(found, name+"="+d.Str())
			keep(found, name+".path="+d.Str())
		default:
			d.Skip(signature)
		}
	})
	return found, d.Err()
}

// path calls a method that returns the path of an object.
func (s *systemd) path(ctx context.Context, member, signature string, body []byte) (string, error) {
	d, err := s.ask(ctx, loginPath, loginManager, member, signature, body, "o")
	if err != nil {
		return "", err
	}
	path := d.Str()
	return path, d.Err()
}

// login reads a session. It returns nil on failure.
func (s *systemd) login(ctx context.Context, path string) *Login {
	p, err := s.texts(ctx, path, loginSession)
	if err != nil || p["Id"] == "" {
		return nil
	}
	return &Login{
		ID: p["Id"], Type: p["Type"], Seat: p["Seat"], State: p["State"], Class: p["Class"],
		Remote: p["Remote"] != "", Active: p["Active"] != "", locked: p["LockedHint"] != "",
		display: p["Display"], desktop: p["Desktop"], scope: p["Scope"], path: path,
	}
}

// logins are the person's sessions in login1.
type logins struct {
	own     *Login // of this process
	display string // the path of the person's graphical session according to login1
	all     []Login
}

// askLogin1 queries the person's sessions. At the deadline it returns the partial result
// with the error.
func askLogin1(ctx context.Context, address string) (found logins, err error) {
	s, err := dialSystemd(ctx, address, loginService)
	if err != nil {
		return found, err
	}
	defer s.conn.Close()
	e := wire.Encoder{}
	e.U32(uint32(os.Getpid()))
	own, noSession := s.path(ctx, "GetSessionByPID", "u", e.Bytes())
	if ctx.Err() != nil {
		return found, noSession
	}
	e = wire.Encoder{}
	e.U32(uint32(os.Getuid()))
	if user, err := s.path(ctx, "GetUser", "u", e.Bytes()); err == nil {
		if p, err := s.texts(ctx, user, loginUser); err == nil {
			found.display = p["Display.path"]
		}
	}
	paths, err := s.sessions(ctx)
	if err != nil {
		return found, err
	}
	for _, path := range paths {
		if l := s.login(ctx, path); l != nil {
			found.all = append(found.all, *l)
			if path == own {
				found.own = l
			}
		}
	}
	return found, ctx.Err()
}

// sessions returns the paths of the person's sessions.
func (s *systemd) sessions(ctx context.Context) ([]string, error) {
	d, err := s.ask(ctx, loginPath, loginManager, "ListSessions", "", nil, "a(susso)")
	if err != nil {
		return nil, err
	}
	var paths []string
	d.Array(8, func() {
		d.Struct()
		d.Str()
		user := d.U32()
		d.Str()
		d.Str()
		if path := d.Str(); user == uint32(os.Getuid()) && len(paths) < maxLogins {
			paths = append(paths, path)
		}
	})
	return paths, d.Err()
}

// askManager queries the environment of the user manager.
func askManager(ctx context.Context, address string) (map[string]string, error) {
	s, err := dialSystemd(ctx, address, managerService)
	if err != nil {
		return nil, err
	}
	defer s.conn.Close()
	e := wire.Encoder{}
	e.Str(managerName)
	e.Str("Environment")
	d, err := s.ask(ctx, managerPath, properties, "Get", "ss", e.Bytes(), "v")
	if err != nil {
		return nil, err
	}
	if signature := d.Variant(); signature != "as" {
		return nil, errors.New("its environment is of the type " + aai.CleanLabel(signature, 40))
	}
	env := map[string]string{}
	d.Array(4, func() { keep(env, d.Str()) })
	return env, d.Err()
}
