// Package workflow runs several calls as one: a workflow with dependent steps and
// rollback ([Document], [Config.Execute]), or a batch of independent calls ([BatchToolName]).
//
// Every step is a call through the gateway, with the outer call as its parent and its
// caller's rights. Before the first step runs, the package checks and admits all steps, so
// that the user answers once and foreseeable errors start nothing. A value from an earlier
// step is data: it is never parsed again. [Library] serves workflow files as tools.
//
// [SQLiteStore] records the progress of runs, so that a run can resume or roll back after
// a crash.
package workflow
