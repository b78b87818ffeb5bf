package cli

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// A Doctor tests every integration with a round trip and reports the results.
type Doctor interface {
	// Checks returns the names of all checks.
	Checks() []string
	// Examine runs all checks except those in skip. It calls tell with each finding in
	// order, and with the titles of the checks that still run.
	Examine(ctx context.Context, skip []string, tell func(f answer.Finding, waiting []string))
	// Fix makes the change that Finding.Fixes describes, for the named check.
	Fix(ctx context.Context, check string) error
	// Bundle writes a report without secrets to the file, and returns a list of its contents.
	Bundle(file string) (holds []string, err error)
}

// A doctorRun is one run of the command "doctor".
type doctorRun struct {
	*run
	doctor Doctor
	view   answer.DoctorReport

	mu      sync.Mutex
	waiting string // text of the progress line; "" for none
	stop    func() // removes the progress line; nil: there is none
}

// setWaiting shows text as progress; "" removes the progress line.
func (v *doctorRun) setWaiting(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.show(what)
}

func (v *doctorRun) show(what string) {
	if v.stop != nil {
		v.stop()
		v.stop = nil
	}
	if v.waiting = what; what != "" {
		v.stop = v.progress(what)
	}
}

func newDoctor(r *run) *cobra.Command {
	var fix, yes bool
	var bundle string
	var skip []string
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Test every integration for real, and show the fix where one fails",
		Long: "Tests every integration end to end: operates a window in a session of its own, calls a service of its own on\n" +
			"the bus, logs in to a web app of its own on this computer, writes a journal and verifies it; looks at\n" +
			"settings, descriptors, disk, clock and keychain, and starts the gateway as a bare client does. Each line\n" +
			"shows the result, and the fix of a fault. It makes no request to a network. The exit code is 1\n" +
			"if something is broken.",
		Example: "  aai-gateway doctor --fix\n" +
			"  aai-gateway doctor --skip screen,window,accessibility,bus    on a computer without a desktop",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fix && !yes && r.output.terminal.Ask == nil {
				return usage(cmd, "--fix asks before each change, and there is no terminal to ask at; give --yes as well")
			}
			if cmd.Flags().Changed("bundle") && (bundle == "" || bundle == "-") {
				return usage(cmd, "--bundle %q names no file; give the name of a zip, such as report.zip", bundle)
			}
			v := &doctorRun{run: r}
			doctor, closing, err := r.cfg.NewDoctor(r.flags, v.mayShow(yes))
			if err != nil {
				return err
			}
			v.doctor, r.closeGateway = doctor, closing
			for _, name := range skip {
				if !slices.Contains(doctor.Checks(), name) {
					return &usageError{
						message:    fmt.Sprintf("there is no examination %q; there are %s", aai.CleanLabel(name, 60), strings.Join(doctor.Checks(), ", ")),
						candidates: aai.Nearest(name, doctor.Checks(), 1), usage: cmd.UseLine(),
					}
				}
			}
			v.examine(cmd.Context(), skip)
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			if fix {
				if err := v.fix(cmd.Context(), yes); err != nil {
					return err
				}
			}
			return v.end(cmd.Context(), bundle)
		},
	}
	cmd.Flags().BoolVar(&fix, "fix", false, "apply the fixes that need no root; asks before each change")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask: apply fixes (with --fix), and test with a window on the screen if nothing else works")
	cmd.Flags().StringVar(&bundle, "bundle", "", "pack a report without secrets into this `file`, a zip")
	cmd.Flags().StringSliceVar(&skip, "skip", nil, "leave these `examinations` out")
	return cmd
}

// mayShow returns a function that asks whether a window may open on the screen; nil where
// no person can be asked.
func (v *doctorRun) mayShow(yes bool) func(context.Context) bool {
	if yes {
		return func(context.Context) bool { return true }
	}
	if v.output.terminal.Ask == nil {
		return nil
	}
	return func(ctx context.Context) bool {
		v.mu.Lock() // write nothing else during the question
		defer v.mu.Unlock()
		what := v.waiting
		v.show("")
		defer func() { v.show(what) }()
		may, err := v.confirm(ctx, "There is no Xvfb here for a hidden test window. May a small one appear on your screen for a moment?")
		return err == nil && may
	}
}

// examine runs the checks and shows each finding as it arrives.
func (v *doctorRun) examine(ctx context.Context, skip []string) {
	begun := time.Now()
	v.view = answer.DoctorReport{Version: 1, Program: v.cfg.Version, System: runtime.GOOS + "/" + runtime.GOARCH, State: answer.StateOK}
	v.output.say("aai-gateway %s on %s tests every integration. It makes no request to a network.\n\n", v.view.Program, v.view.System)
	v.setWaiting("trying")
	v.doctor.Examine(ctx, skip, func(f answer.Finding, waiting []string) {
		v.setWaiting("")
		if ctx.Err() != nil {
			return // a check that was cut off proves nothing about the computer
		}
		v.add(f)
		if len(waiting) > 0 {
			v.setWaiting("trying: " + strings.Join(waiting, ", "))
		}
	})
	v.view.TookMS = time.Since(begun).Milliseconds()
}

func (v *doctorRun) add(f answer.Finding) {
	v.view.Checks = append(v.view.Checks, f)
	if f.State == answer.StateBroken {
		v.view.State = answer.StateBroken
	}
	if v.output.format == formatText {
		v.showFinding(f)
	}
}

// titleColumns is the width of titles.
const titleColumns = 22

// indent is the prefix of the lines below a finding.
const indent = "           "

// showFinding writes one finding in a line. If its state is not "ok", the lines below it
// describe the test and the advice.
func (v *doctorRun) showFinding(f answer.Finding) {
	line := padded("  "+string(f.State), len(indent)) + padded(f.Title, titleColumns)
	if took := (time.Duration(f.TookMS) * time.Millisecond).Round(10 * time.Millisecond); took > 0 {
		line += fmt.Sprintf("%5.2f s  ", took.Seconds())
	} else {
		line += strings.Repeat(" ", len("00.00 s  "))
	}
	v.folded(line, f.Saw)
	if f.State == answer.StateOK {
		return
	}
	if f.Did != "" && f.State != answer.StateSkipped {
		v.folded(indent, "Done: "+f.Did+".")
	}
	for _, detail := range f.Details {
		v.folded(indent, "· "+detail)
	}
	if f.Advice != "" {
		v.folded(indent, f.Advice)
	}
	for _, command := range f.Commands {
		v.output.lines(indent + "    " + command) // unfolded, to be copied
	}
}

// folded writes text after a prefix, folded at the width of the terminal.
func (v *doctorRun) folded(beginning, text string) {
	width := v.output.terminal.Width
	left := displaywidth.String(beginning)
	line := beginning
	empty := true
	for word := range strings.FieldsSeq(aai.CleanText(text, maxQuestion)) {
		if !empty && width > left+20 && displaywidth.String(line)+1+displaywidth.String(word) > width {
			v.output.lines(line)
			line, empty = strings.Repeat(" ", left), true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	v.output.lines(strings.TrimRight(line, " "))
}

// fix applies the fixes of findings, and asks before each unless yes is set.
func (v *doctorRun) fix(ctx context.Context, yes bool) error {
	for i, f := range v.view.Checks {
		if f.Fixes == "" {
			continue
		}
		if !yes {
			may, err := v.confirm(ctx, "\n"+strings.ToUpper(f.Fixes[:1])+f.Fixes[1:]+"?")
			if err != nil {
				return err
			}
			if !may {
				v.view.Checks[i].Fixed = "not wanted"
				continue
			}
		}
		if err := v.doctor.Fix(ctx, f.Check); err != nil {
			v.view.Checks[i].Fixed = aai.AsError(err).Message
			v.output.say("\n%s: the fix failed: %s", f.Title, v.view.Checks[i].Fixed)
			continue
		}
		v.view.Checks[i].Fixed = "done"
		v.output.say("\n%s: done: %s", f.Title, f.Fixes)
	}
	return nil
}

// end writes the report file if one was requested, and shows the next step.
func (v *doctorRun) end(_ context.Context, bundle string) error {
	if bundle != "" {
		holds, err := v.doctor.Bundle(bundle)
		if err != nil {
			return err
		}
		v.view.Bundle = holds
		v.output.say("\n%s contains, for the person who helps you:", bundle)
		for _, line := range holds {
			v.output.say("  %s", line)
		}
	}
	v.view.Next = v.next()
	if err := v.output.show(v.view, func() error {
		v.output.raw("\n")
		v.folded("", v.view.Next)
		return nil
	}); err != nil {
		return err
	}
	if v.view.State == answer.StateBroken {
		return &findingsError{exit: exitFailed}
	}
	return nil
}

// next returns the next step as a sentence.
func (v *doctorRun) next() string {
	var broken, mendable, mended []string
	for _, f := range v.view.Checks {
		if f.Fixed == "done" {
			mended = append(mended, f.Title)
		}
		if f.State == answer.StateBroken {
			broken = append(broken, f.Title)
			if f.Fixes != "" {
				mendable = append(mendable, f.Title)
			}
		}
	}
	var halted answer.Finding
	if i := slices.IndexFunc(v.view.Checks, func(f answer.Finding) bool { return f.Check == "stop" && f.State == answer.StateNote }); i >= 0 {
		halted = v.view.Checks[i]
	}
	took := fmt.Sprintf(" (%.1f s)", float64(v.view.TookMS)/1000)
	switch {
	case len(mended) > 0:
		return "Fixed: " + strings.Join(mended, ", ") + ". Next: run aai-gateway doctor again, to check the fix."
	case len(broken) == 0 && halted.Check != "":
		return "All works" + took + ", but " + halted.Saw + ". Next: " + strings.Join(halted.Commands, ", ")
	case len(broken) == 0:
		return "All is well" + took + ". Next: aai-gateway install gives the gateway to your agent."
	case len(mendable) > 0:
		return fmt.Sprintf("Broken: %s%s. Next: aai-gateway doctor --fix fixes %s; it asks before each change.", strings.Join(broken, ", "), took, strings.Join(mendable, ", "))
	}
	step := "follow the advice below it"
	if slices.ContainsFunc(v.view.Checks, func(f answer.Finding) bool { return f.State == answer.StateBroken && len(f.Commands) > 0 }) {
		step = "run the command shown below it"
	}
	return fmt.Sprintf("Broken: %s%s. Next: "+step+", and aai-gateway doctor again.", strings.Join(broken, ", "), took)
}
