package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
)

// The tools about recordings.
const (
	recordTool       = "ax_record"
	recordingStatus  = "recording_status"
	recordingStop    = "recording_stop"
	recordingWait    = 50 * time.Second // how long one call waits for a step
	recordingEnd     = 15 * time.Second
	macrosFolder     = ".aai/macros"
	replayDefaultArg = "file"
)

func newRecord(r *run) *cobra.Command {
	var app, output string
	cmd := &cobra.Command{
		Use:   "record --app <name> [--output file.json]",
		Short: "Record what you do in a program, to replay it",
		Long: "Records what you do in one program, until you interrupt it: clicks, texts, choices. A sign on\n" +
			"the screen shows that it records. Passwords are not recorded. replay does the same again.",
		Example: "  aai-gateway record --app mousepad --output letter.json\n" +
			"  aai-gateway replay letter.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if app == "" {
				return usage(cmd, "expected --app and the name of a running program")
			}
			return r.record(cmd.Context(), app, output)
		},
	}
	cmd.Flags().StringVar(&app, "app", "", "the running `program`")
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` for the workflow; without it the recording stays in the gateway's data folder")
	completeWith(cmd, "app", r.completeApp)
	return cmd
}

// recordingView is the state of a recording.
type recordingView struct {
	App       string `json:"app"`
	Recording bool   `json:"recording"`
	Count     int    `json:"count"`
	File      string `json:"file"`
	// Workflow is the workflow of the steps, once it has ended.
	Workflow json.RawMessage `json:"workflow"`
}

// record records until ctx or the recording ends, and writes the workflow.
func (r *run) record(ctx context.Context, app, output string) error {
	if output != "" {
		if _, err := os.Lstat(output); !errors.Is(err, fs.ErrNotExist) {
			return aai.Errorf(aai.InvalidParams, "--output: %s exists already; expected a new file", aai.CleanLabel(output, 200))
		}
	}
	started, err := r.do(ctx, aai.DesktopApp, recordTool, map[string]any{"app": app})
	if err != nil {
		return err
	}
	r.output.note(started.Text + " Ctrl-C ends it.")
	for last := 0; ctx.Err() == nil; {
		result, err := r.callBuiltin(ctx, recordingStatus, map[string]any{"after": last, "wait_ms": int(recordingWait / time.Millisecond)})
		if err != nil {
			break // interrupted
		}
		v, err := decodeView[recordingView](result.Data)
		if err != nil || !v.Recording {
			break
		}
		if v.Count != last {
			r.output.note(result.Text)
		}
		last = v.Count
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordingEnd)
	defer cancel()
	result, err := r.callBuiltin(ctx, recordingStop, nil)
	if err != nil {
		return err
	}
	v, err := decodeView[recordingView](result.Data)
	if err != nil {
		return err
	}
	if output != "" {
		if err := writeWorkflow(output, v.Workflow); err != nil {
			r.output.note("The recording itself is kept; replay takes it: " + v.File)
			return err
		}
		v.File = output
	}
	return r.output.show(result.Data, func() error {
		r.output.lines(result.Text)
		if result.Warning != "" {
			r.output.warn(result.Warning)
		}
		r.output.note("Replay it: " + program + " replay " + v.File)
		return nil
	})
}

// writeWorkflow writes a workflow to a new file, which only the person may read.
func writeWorkflow(path string, workflow json.RawMessage) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return aai.Errorf(aai.InvalidParams, "--output: %w", err)
	}
	var text bytes.Buffer
	if err := json.Indent(&text, workflow, "", "  "); err != nil {
		text.Write(workflow)
	}
	_, err = text.WriteTo(file)
	return errors.Join(err, file.Close())
}

func newReplay(r *run) *cobra.Command {
	var save string
	cmd := &cobra.Command{
		Use:   "replay <file|name> [param=value]...",
		Short: "Do again what was recorded",
		Long: "Does the steps of a recording again, or of a workflow. A name means " + macrosFolder + "/name.json of the\n" +
			"folder or the stored workflow. An element that was renamed or moved is found by its role,\n" +
			"name and surroundings; where that decides nothing, the replay stops.",
		Example: "  aai-gateway replay letter.json text=Hello --save letter\n" +
			"  aai-gateway replay letter",
		Args: operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := args[0]
			if !isFile(path) && !strings.HasSuffix(path, ".jsonl") {
				path = filepath.Join(macrosFolder, path+".json")
				if _, err := os.Stat(path); err != nil && save == "" {
					return r.exec(cmd, workflowsApp, args[0], nil, args[1:])
				}
			}
			path, err := filepath.Abs(path)
			if err != nil {
				return err
			}
			params, err := addPairs(cmd, nil, args[1:], nil)
			if err != nil {
				return err
			}
			object := map[string]any{replayDefaultArg: path}
			if len(params) > 0 {
				object["params"] = params
			}
			if save != "" {
				object["save"] = save
			}
			return r.callAndShow(&toolCall{cmd: cmd, tool: "workflow_file", args: object}, nil)
		},
	}
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveDefault
	}
	cmd.Flags().StringVar(&save, "save", "", "store it as a workflow of this `name` once it has run")
	return cmd
}
