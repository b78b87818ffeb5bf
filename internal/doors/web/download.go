package web

import (
	"bytes"
	"encoding/csv"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/answer"
)

// A download is a file that an act returns to the person.
type download struct {
	name, kind string
	content    []byte
}

// write sends it as an attachment, never as a page of this server.
func (f *download) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", f.kind)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.name}))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(f.content) // fails if the browser has disconnected
}

// exportLimit limits the calls in a table.
const exportLimit = 10_000

// exportHistory returns the calls that match the page's filters: the journal's records with
// the verification of each, or a table.
func exportHistory(v *pageRequest) (any, error) {
	args, err := filterArgs(v)
	if err != nil {
		return nil, err
	}
	args["looks"] = v.query.Get(looksName) != ""
	name := "aai-history-" + time.Now().Format("2006-01-02")
	if v.form.Get("format") != "csv" {
		result, err := v.call("audit_export", args)
		if err != nil {
			return nil, err
		}
		return &download{name + ".jsonl", "application/jsonl", []byte(result.Text)}, nil
	}
	args["limit"] = exportLimit
	var calls []answer.CallRecord
	if err := v.read("history", args, &calls); err != nil {
		return nil, err
	}
	return &download{name + ".csv", "text/csv; charset=utf-8", csvTable(calls)}, nil
}

// csvTable formats calls as CSV.
func csvTable(calls []answer.CallRecord) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	row := func(cells ...string) {
		for i := range cells {
			cells[i] = escapeFormula(cells[i])
		}
		_ = w.Write(cells) // into memory
	}
	row("time", "call", "parent", "door", "caller", "identity", "app", "target", "on", "tool", "effect", "consent", "result", "message", "ms", "count", "args")
	for _, c := range calls {
		row(c.Time.Format(time.RFC3339Nano), c.Call, c.Parent, c.Door, c.Caller, c.Identity, c.App, c.Target, c.On.String(), c.Tool, c.Effect, c.Consent,
			c.Result, c.Message, strconv.FormatFloat(c.Millis, 'f', 3, 64), strconv.Itoa(max(c.Count, 1)), string(c.Args))
	}
	w.Flush()
	return b.Bytes()
}

// escapeFormula escapes a cell so that no program takes it for a formula: foreign text is
// in it.
func escapeFormula(cell string) string {
	if strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r") {
		return "'" + cell
	}
	return cell
}
