package shop

import (
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

// page is the template of the shop's web page.
const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><h1>Orders</h1>
{{with .Done}}<p role="status">{{.}}</p>{{end}}
<table><tr><th>Order<th>Customer<th>Status<th>Total<th>Refunded</tr>
{{range .Orders}}<tr><td>{{.ID}}<td>{{.Customer}}<td>{{.Status}}<td>{{euros .Cents}}<td>{{euros .Refunded}}</tr>{{end}}</table>
<h2>Refund</h2><form method="post" action="/refund"><label>Order number <input name="order"></label>
<label>Cents <input name="cents"></label> <label>Reason <input name="reason"></label> <button>Refund</button></form>
<h2>Report</h2><form action="/"><label>From month <input name="from"></label> <label>To month <input name="to"></label>
<button>Make report</button></form>{{with .Report}}<p role="status">{{.}}</p>{{end}}</html>`

func euros(cents int) string { return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100) }

// Cents returns the price of the order.
func (o Order) Cents() int { return o.cents() }

// NewPage returns the shop's web page: its orders, a refund and a report. It needs no key. It is
// safe for concurrent use.
func NewPage(s *Shop) http.Handler {
	whole := template.Must(template.New("shop").Funcs(template.FuncMap{"euros": euros}).Parse(page))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		shown := struct {
			Done, Report string
			Orders       []Order
		}{Orders: s.Orders()}
		if done := r.FormValue("refunded"); done != "" {
			shown.Done = "Order " + done + " was refunded."
		}
		if from := r.FormValue("from"); from != "" {
			sum := 0
			for _, o := range shown.Orders {
				sum += o.cents()
			}
			shown.Report = fmt.Sprintf("%s to %s: %d orders, %s", from, r.FormValue("to"), len(shown.Orders), euros(sum))
		}
		_ = whole.Execute(w, shown)
	})
	mux.HandleFunc("POST /refund", func(w http.ResponseWriter, r *http.Request) {
		cents, err := strconv.Atoi(strings.TrimSpace(r.FormValue("cents")))
		if err != nil || !s.refundOrder(r.FormValue("order"), cents, r.FormValue("reason")) {
			http.Error(w, "There is no such order, or it did not cost so much.", http.StatusUnprocessableEntity)
			return
		}
		http.Redirect(w, r, "/?refunded="+r.FormValue("order"), http.StatusSeeOther)
	})
	return mux
}

// refundOrder refunds a part of an order, and reports success.
func (s *Shop) refundOrder(order string, cents int, reason string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.orders {
		o := &s.orders[i]
		if strconv.Itoa(o.ID) != strings.TrimSpace(order) || cents < 1 || o.Refunded+cents > o.cents() {
			continue
		}
		o.Refunded, o.Status, o.Reasons = o.Refunded+cents, "refunded", append(o.Reasons, reason)
		return true
	}
	return false
}
