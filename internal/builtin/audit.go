package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/audit"
)

// auditTools are the tools that verify and export the journal.
type auditTools struct{ journal *audit.Journal }

// auditTimeout limits auditTools; a slow disk needs minutes for a journal of the usual size.
const auditTimeout = 5 * time.Minute

// tools returns AuditVerify and AuditExport, with a longer timeout than other tools.
func (a auditTools) tools() []*aai.Tool {
	verify := readTool(AuditVerify, "Check that the record of calls is as it was written", noParams, a.verify)
	export := withUnrecordedQuery(changeTool(AuditExport, "Write the record of calls as JSON Lines, with what is known of each line", exportParams, a.export))
	verify.Limits.Timeout, export.Limits.Timeout = auditTimeout, auditTimeout
	return []*aai.Tool{verify, export}
}

func (a auditTools) verify(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	v, err := a.journal.Verify(ctx)
	if err != nil {
		return nil, cannotVerify(ctx, err)
	}
	return &aai.Result{Text: v.String(), Data: v}, nil
}

func cannotVerify(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if _, ok := errors.AsType[*aai.Error](err); ok {
		return err
	}
	return aai.Errorf(aai.AutomationFailed, "the journal cannot be verified: %w", err)
}

// maxExport limits an export without a file, in bytes.
const maxExport = 16 << 20

func (a auditTools) export(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	filter, err := filterOf(call)
	if err != nil {
		return nil, err
	}
	path := text(call, "file")
	if path == "" {
		out := &limitedBuffer{limit: maxExport}
		v, err := a.journal.Export(ctx, out, filter)
		if out.overflowed {
			return nil, &aai.Error{
				Code: aai.InvalidParams, Message: fmt.Sprintf("the export has more than %d MB", maxExport>>20),
				Hint: "Name a file to write it to, or filter by time or app.", Delivery: aai.NotDelivered,
			}
		}
		if err != nil {
			return nil, cannotVerify(ctx, err)
		}
		return &aai.Result{Text: out.String(), Data: v}, nil
	}
	if !filepath.IsAbs(path) {
		return nil, aai.Errorf(aai.InvalidParams, "file: expected an absolute path")
	}
	v, err := a.exportTo(ctx, path, filter)
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: v.String(), Data: v}, nil
}

// exportTo writes a new file that only its owner can read. An existing file is an error.
func (a auditTools) exportTo(ctx context.Context, path string, filter audit.Filter) (*answer.Verification, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, aai.Errorf(aai.InvalidParams, "file: %s is there already; expected the name of a new file", path)
	}
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "file: it cannot be made: %w", err)
	}
	v, err := a.journal.Export(ctx, f, filter)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(path) // a partial export is worse than none
		return nil, cannotVerify(ctx, err)
	}
	return v, nil
}

// limitedBuffer is a buffer that accepts at most limit bytes.
type limitedBuffer struct {
	bytes.Buffer
	limit      int
	overflowed bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.limit {
		b.overflowed = true
		return 0, io.ErrShortWrite
	}
	return b.Buffer.Write(p)
}
