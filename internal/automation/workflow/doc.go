// Package workflow makes several calls as one: a workflow, whose steps follow each other,
// take values from each other and are taken back where one fails, and a batch of calls that
// know nothing of each other.
//
// Every step is a call through the gateway, with the outer call as its parent and its
// caller's rights. All that is known of the steps is looked at and admitted before the first
// of them runs, so that a person is asked once, and nothing is begun that could be known to
// fail. A value that a step takes from an earlier one stays one parameter's data: it is
// never read again for what is in it.
package workflow
