// Command shopmcp is the benchmarks' shop as an MCP server over standard input and output, as its
// makers would write it with the SDK: three tools that call the shop's API. SHOP is its address,
// SHOP_KEY its key.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type listArgs struct {
	Status string `json:"status,omitempty" jsonschema:"only orders of this status: open, paid or refunded"`
}

type refundArgs struct {
	Order  int    `json:"order" jsonschema:"the number of the order"`
	Cents  int    `json:"cents" jsonschema:"how much, in cents"`
	Reason string `json:"reason" jsonschema:"why"`
}

type reportArgs struct {
	From string `json:"from" jsonschema:"the first month, as 2026-01"`
	To   string `json:"to" jsonschema:"the last month, as 2026-02"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true}
	mcp.AddTool(server, &mcp.Tool{Name: "list_orders", Description: "The orders of the shop.", Annotations: reads},
		func(ctx context.Context, _ *mcp.CallToolRequest, w listArgs) (*mcp.CallToolResult, any, error) {
			return ask(ctx, http.MethodGet, "/v1/orders?"+url.Values{"filter[status]": {w.Status}}.Encode(), nil)
		})
	mcp.AddTool(server, &mcp.Tool{Name: "refund_order", Description: "Pays back a part of an order, or all of it."},
		func(ctx context.Context, _ *mcp.CallToolRequest, r refundArgs) (*mcp.CallToolResult, any, error) {
			return ask(ctx, http.MethodPost, "/v1/orders/"+strconv.Itoa(r.Order)+"/refund", url.Values{"cents": {strconv.Itoa(r.Cents)}, "reasons": {r.Reason}})
		})
	mcp.AddTool(server, &mcp.Tool{Name: "sales_report", Description: "What was sold in some months.", Annotations: reads},
		func(ctx context.Context, _ *mcp.CallToolRequest, p reportArgs) (*mcp.CallToolResult, any, error) {
			return ask(ctx, http.MethodGet, "/v1/report/."+p.From+"."+p.To, nil)
		})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
}

// ask sends a request to the shop, and returns the response.
func ask(ctx context.Context, method, path string, form url.Values) (*mcp.CallToolResult, any, error) {
	request, err := http.NewRequestWithContext(ctx, method, os.Getenv("SHOP")+path, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("X-Shop-Key", cmp.Or(os.Getenv("SHOP_KEY"), "none"))
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = reply.Body.Close() }()
	said, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, nil, err
	}
	if reply.StatusCode >= http.StatusMultipleChoices {
		return nil, nil, fmt.Errorf("%s: %s", reply.Status, said)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(said)}}}, nil, nil
}
