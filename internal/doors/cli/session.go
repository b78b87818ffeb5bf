package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// SessionOptions are the choices for an isolated session.
type SessionOptions struct {
	Screen        string   // the server of its screen: "x11" or "sway"
	Width, Height int      // of its screen, in pixels
	Folders       []string // the folders to show in its home
	Home          bool     // its home shows the whole home
	Keep          string   // the folder for files that programs of the session have changed; "" drops them
	Label         string   // its command, for the person
}

// The modes of --session.
const (
	sessionOwn      = "own"
	sessionIsolated = "isolated"
)

// ExitStatus returns an error that ends the command with the status and without a message, or nil
// for status 0.
func ExitStatus(status int) error {
	if status == 0 {
		return nil
	}
	return &findingsError{exit: status}
}

func newSession(r *run) *cobra.Command {
	var o SessionOptions
	cmd := &cobra.Command{
		Use:   "run [--folder PATH]... -- COMMAND [ARGUMENT]...",
		Short: "Run a command in a desktop of its own",
		Long: "Starts an invisible desktop with its own screen, session bus and home, and runs the command in it.\n" +
			"The desktop ends with the command, and its files are removed. It keeps windows, the clipboard and\n" +
			"settings apart; it is no wall: the command can read all your files by their paths, and use the network.",
		Example: "  aai-gateway session run -- gnome-calculator\n" +
			"  aai-gateway session run --folder ~/work --keep ~/changed -- make test",
		Args: operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.cfg.RunSession(cmd.Context(), o, args)
		},
	}
	cmd.Flags().SetInterspersed(false)
	addSessionFlags(cmd.Flags(), &o)
	list := r.newToolCommand(&cobra.Command{Use: "list", Short: "List the desktops that run"}, toolCommand{tool: "session_list", show: rowsOr("None runs.")})
	return newGroup("session", "Run programs in a desktop of their own", cmd, list)
}

// addSessionFlags adds the flags of an isolated session.
func addSessionFlags(flags *pflag.FlagSet, o *SessionOptions) {
	o.Width, o.Height = 1280, 800
	flags.Var(&enumFlag{value: &o.Screen, allowed: []string{"x11", "sway"}}, "screen", "the server of the session's screen: x11 (Xvfb) or sway (Wayland)")
	flags.Var(&sizeFlag{o}, "size", "the `size` of the session's screen in pixels, such as 1280x800")
	flags.StringArrayVar(&o.Folders, "folder", nil, "show the folder at `path` in the session's home; may be given several times")
	flags.BoolVar(&o.Home, "home", false, "show your whole home as the session's home")
	flags.StringVar(&o.Keep, "keep", "", "copy files that change below --folder or --home to the new folder at `path`; without it they are dropped")
}

// sessionFlagNames are the flags of addSessionFlags.
func sessionFlagNames() []string { return []string{"screen", "size", "folder", "home", "keep"} }

// sizeFlag is the value of --size.
type sizeFlag struct{ o *SessionOptions }

func (s *sizeFlag) String() string {
	if s.o == nil {
		return ""
	}
	return fmt.Sprintf("%dx%d", s.o.Width, s.o.Height)
}

func (*sizeFlag) Type() string { return "size" }

// The limits of a side of the screen, in pixels.
const minSide, maxSide = 200, 8192

func (s *sizeFlag) Set(text string) error {
	w, h, _ := strings.Cut(text, "x")
	width, err := strconv.Atoi(w)
	height, other := strconv.Atoi(h)
	if err != nil || other != nil || min(width, height) < minSide || max(width, height) > maxSide {
		return fmt.Errorf("expected WIDTHxHEIGHT, each from %d to %d, such as 1280x800", minSide, maxSide)
	}
	s.o.Width, s.o.Height = width, height
	return nil
}
