package cli

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// workflowsApp is the app with the person's saved workflows as tools.
const workflowsApp = "workflows"

func newWorkflow(r *run) *cobra.Command {
	return newGroup("workflow", "Run workflows, and show, resume and undo their runs", newWorkflowList(r), newWorkflowRun(r), newWorkflowShow(r), newWorkflowOn(r), newWorkflowResume(r), newWorkflowRollback(r))
}

func newWorkflowList(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the stored workflows, and the runs of all, newest first",
		RunE:  func(cmd *cobra.Command, _ []string) error { return r.workflows(cmd.Context()) },
	}
}

func (r *run) workflows(ctx context.Context) error {
	files, err := r.callBuiltin(ctx, "workflow_list", nil)
	if err != nil {
		return err
	}
	runs, err := r.callBuiltin(ctx, "workflow_runs", nil)
	if err != nil {
		return err
	}
	return r.output.show(map[string]any{"workflows": files.Data, "runs": runs.Data}, func() error {
		kept, err := r.readTable(ctx, "workflow_list", files.Data)
		if err != nil {
			return err
		}
		past, err := r.readTable(ctx, "workflow_runs", runs.Data)
		if err != nil {
			return err
		}
		if len(kept.rows) == 0 {
			r.output.note("No workflow is stored. Put one at ~/.aai/workflows/NAME.json.")
		} else {
			r.output.showAnswerTable(kept, nil, nil)
		}
		if len(past.rows) == 0 {
			return nil
		}
		if len(kept.rows) > 0 {
			r.output.lines("\n")
		}
		r.output.showAnswerTable(past, nil, nil)
		r.noteInterruptedRuns(past)
		return nil
	})
}

// noteInterruptedRuns shows the commands to continue or roll back interrupted runs.
func (r *run) noteInterruptedRuns(past *answerTable) {
	for _, row := range past.rows {
		if memberText(row, "state") == "interrupted" {
			id := memberText(row, "run")
			r.output.note("Run " + id + " was interrupted at " + memberText(row, "at") + ". See it: " + program + " workflow show " + id +
				"; to resume: workflow resume " + id + "; to undo: workflow rollback " + id)
		}
	}
}

func newWorkflowRun(r *run) *cobra.Command {
	var pairs []string
	cmd := &cobra.Command{
		Use:   "run <name|file.json> [--arg name=value]...",
		Short: "Run a stored workflow, or one from a file",
		Example: "  aai-gateway workflow run tidy --arg folder=Inbox\n" +
			"  aai-gateway workflow run ./deploy.json",
		Args: operands(1, 1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			offers, _ := r.completeAppTool(cmd, []string{workflowsApp}, typed)
			return offers, cobra.ShellCompDirectiveDefault // or a file
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !isFile(args[0]) {
				return r.exec(cmd, workflowsApp, args[0], nil, pairs)
			}
			path, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			params, err := addPairs(cmd, nil, pairs, nil)
			if err != nil {
				return err
			}
			object := map[string]any{"file": path}
			if len(params) > 0 {
				object["params"] = params
			}
			return r.callAndShow(&toolCall{cmd: cmd, tool: "workflow_file", args: object}, nil)
		},
	}
	cmd.Flags().StringArrayVarP(&pairs, "arg", "a", nil, "one argument: `name=value`, or name:=json")
	return cmd
}

// isFile reports whether an operand names a file, and not a saved workflow.
func isFile(operand string) bool {
	return strings.HasSuffix(operand, ".json") || strings.ContainsAny(operand, `/\`)
}

func newWorkflowShow(r *run) *cobra.Command {
	cmd := &cobra.Command{Use: "show <run>", Short: "Show a run in full"}
	return r.newToolCommand(cmd, toolCommand{tool: "workflow_show", operands: "run"})
}

func newWorkflowResume(r *run) *cobra.Command {
	return r.newToolCommand(&cobra.Command{
		Use:   "resume <run> [--happened|--not-happened]",
		Short: "Resume an interrupted run",
		Long: "Resumes an interrupted run. Finished steps do not run again. The check of the interrupted\n" +
			"step decides whether it was done; where it has none, you do.",
	}, toolCommand{
		tool: "workflow_resume", operands: "run",
		flags: []toolFlag{{"happened", false, "the interrupted step was done"}, {"not-happened=", false, "it was not done"}},
		prepare: func(c *toolCall) error {
			if c.isSet("not-happened") {
				if c.isSet("happened") {
					return usage(c.cmd, "--happened and --not-happened are two answers; give one of them")
				}
				c.args["happened"] = false
			}
			return nil
		},
	})
}

func newWorkflowRollback(r *run) *cobra.Command {
	cmd := &cobra.Command{Use: "rollback <run>", Short: "Undo the steps of a run, newest first"}
	return r.newToolCommand(cmd, toolCommand{tool: "workflow_rollback", operands: "run"})
}
