// Command echo is the gateway with one app that returns its argument, for the benchmarks.
// Its door, catalog, policy and journal are those of the program; only the driver is
// replaced. It thus measures the entire path of a call without an app.
//
// Its argument is a folder with the app's descriptor, which also gets the journal. It serves
// standard input and output, or, with "http" after it, HTTP on an address that it prints,
// for clients with the token of AAI_HTTP_TOKEN.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/lexicon"
	"github.com/gybob/aai-gateway/internal/policy"
)

// echoDriver replaces every driver: a tool returns its argument.
type echoDriver struct{}

func (echoDriver) Compile(*aai.Recipe) (aai.Action, error) {
	return func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		return &aai.Result{Data: call.Args["v"]}, nil
	}, nil
}

func main() {
	debug.SetGCPercent(400) // the program's value with few apps
	if err := serve(context.Background(), os.Args[1], len(os.Args) > 2); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, folder string, overHTTP bool) error {
	door := mcp.New(mcp.Config{Gateway: newGateway(folder), Version: "1"})
	if !overHTTP {
		return door.ServeStdio(ctx, os.Stdin, os.Stdout)
	}
	server, err := door.HTTP(streamable.Config{HTTP: httpdoor.Config{Verifier: bearer.NewSecretVerifier(os.Getenv("AAI_HTTP_TOKEN"))}})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	return server.Serve(ctx, listener)
}

// newGateway creates the gateway as the program does.
func newGateway(folder string) *gateway.Gateway {
	record := audit.New(filepath.Join(folder, "audit.jsonl"))
	store := policy.NewFileStore(filepath.Join(folder, "consent.json"))
	var known *catalog.Catalog
	self := builtin.NewApp(builtin.Dependencies{Journal: record, Store: store}, func() builtin.Catalog { return known })
	known = catalog.New(catalog.Config{
		Places: []catalog.Place{catalog.Folders(folder)}, HostPlatform: "linux",
		Drivers: map[string]aai.Driver{"linux/dbus": echoDriver{}}, Builtin: []*aai.App{self},
	})
	// All installed descriptors are for the benchmarks.
	preapproved := make([]policy.Grant, 0, 1)
	for _, app := range known.Apps() {
		preapproved = append(preapproved, policy.Grant{Caller: policy.Wildcard, App: app.ID, Tool: policy.Wildcard, Decision: policy.Allow})
	}
	return &gateway.Gateway{
		Catalog: known, Journal: record,
		Gates: []aai.Gate{
			policy.NewLimits(map[policy.Kind]policy.Limit{policy.KindDeclared: {PerSecond: 1e6, PerMinute: 1e7, Concurrent: 1000}}),
			policy.NewBuiltinGate(policy.BuiltinConfig{AgentTools: builtin.AgentTools(), PersonDoors: []string{aai.DoorCLI}}),
			&policy.ModeGate{Path: filepath.Join(folder, "mode")},
			policy.AppLists{Denied: []string{"org.example.Denied"}},
			risk.ProtectedWindows{},
			risk.NewDestructiveMarker(lexicon.DestructiveWords()),
			policy.NewConsent(policy.ConsentConfig{Store: store, Preapproved: preapproved}),
		},
	}
}
