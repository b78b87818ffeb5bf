package oauth_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// The rows of the checklist in docs/decisions/login.md, and their tests. Each is
// named TestRowNN and its subject; a row may have several tests.
//
//	row source                 requirement                                           files
//	01  2.1 §1.5               https alone                                           rows_address_test.go
//	02  MCP                    address for the browser                               rows_address_test.go
//	03  RFC 7636               PKCE, S256, fresh                                     rows_code_test.go
//	04  MCP                    no PKCE, no login                                     rows_code_test.go
//	05  RFC 8252 §8.12         the person's own browser                              rows_address_test.go
//	06  RFC 8252 §7.3          127.0.0.1, bound first, gone afterwards               rows_callback_test.go
//	07  RFC 9700 §4.7          state; forged answers change nothing                  rows_callback_test.go
//	08  2.1                    repeated parameters, Host                             rows_callback_test.go
//	09  RFC 9207               iss                                                   rows_callback_test.go
//	10  RFC 9700 §4.4          mix-up                                                rows_callback_test.go
//	11  RFC 8414 §3.3          the issuer is the one that was asked                  rows_metadata_test.go
//	12  RFC 9728               WWW-Authenticate, resource                            rows_metadata_test.go
//	13  RFC 8707               the token is for this API                             rows_metadata_test.go
//	14  2.1 §4.3               rotation: lock, read again, write, then use           rows_refresh_test.go, rows_processes_test.go
//	15  2.1 §4.3.1             replay ends the login; an outage does not             rows_refresh_test.go
//	16  2.1 §7.5.3             no redirect is followed                               rows_refresh_test.go
//	17  x/oauth2               a code is shown once                                  rows_code_test.go
//	18  RFC 6750               no secret in URL, error, log or progress              rows_canary_test.go
//	19  RFC 9449               DPoP                                                  rows_proof_test.go
//	20  RFC 8628               codes for devices                                     rows_device_test.go
//	21  RFC 7591               registration                                          rows_client_test.go
//	22  CIMD                   the document's address                                rows_client_test.go
//	23  RFC 9700 §2.2.2, MCP   least scopes, steps up                                rows_scope_test.go
//	24  RFC 7009               logout takes back                                     rows_scope_test.go
//	25  RFC 9126               pushed parameters                                     rows_client_test.go
//	26  MCP                    a caller's own token goes nowhere                     rows_canary_test.go
//	27  2.1 §8.5.4             one window, in time, given up                         rows_flow_test.go
const rows = 27

func TestEveryRowHasItsTest(t *testing.T) {
	files, err := filepath.Glob("rows_*_test.go")
	assert.NilError(t, err)
	found := make(map[string]string)
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		assert.NilError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "TestRow") && len(f.Name.Name) > 9 {
				found[f.Name.Name[7:9]] = f.Name.Name
			}
		}
	}
	for row := 1; row <= rows; row++ {
		assert.Check(t, found[fmt.Sprintf("%02d", row)] != "", "row %d has no test", row)
	}
}
