// Package shop is a small shop with an HTTP API and its OpenAPI document, not made for the
// gateway, for tests and benchmarks. Tests can inspect its state without the API.
package shop

import (
	"cmp"
	"embed"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed openapi.yaml
var files embed.FS

// OpenAPIDocument returns the OpenAPI document of the shop. Its server addresses are relative to
// its own: /openapi.yaml.
func OpenAPIDocument() []byte {
	text, err := files.ReadFile("openapi.yaml")
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

// APIKey is the expected value of the header X-Shop-Key.
const APIKey = "shop-key-4711"

// Order is an order of the shop.
type Order struct {
	ID       int     `json:"id"`
	Customer string  `json:"customer"`
	Lines    []Line  `json:"lines"`
	Status   string  `json:"status"`
	Refunded int     `json:"refunded"`
	Note     *string `json:"note"`
	// Reasons and Request came with a request; the API does not return them.
	Reasons []string `json:"-"`
	Request string   `json:"-"`
}

// Line is an article of an order.
type Line struct {
	Article  string `json:"article"`
	Quantity int    `json:"pieces"`
	Cents    int    `json:"cents"`
}

func (o Order) cents() (sum int) {
	for _, l := range o.Lines {
		sum += l.Quantity * l.Cents
	}
	return sum
}

// Shop is the handler of its API. The zero Shop has no orders. It is safe for concurrent use.
type Shop struct {
	mu     sync.Mutex
	orders []Order
	last   int
}

// NewShop returns a shop with three orders.
func NewShop() *Shop {
	s := &Shop{}
	s.addOrder(Order{Customer: "Ada", Lines: []Line{{"Lamp", 1, 4900}}, Status: "paid"})
	s.addOrder(Order{Customer: "Grace", Lines: []Line{{"Chair", 2, 12000}, {"Table", 1, 30000}}, Status: "open"})
	s.addOrder(Order{Customer: "Ada", Lines: []Line{{"Bulb", 6, 250}}, Status: "paid"})
	return s
}

func (s *Shop) addOrder(o Order) Order {
	s.last++
	o.ID, o.Status = s.last, cmp.Or(o.Status, "open")
	s.orders = append(s.orders, o)
	return o
}

// Orders returns the current orders.
func (s *Shop) Orders() []Order {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.orders)
}

// ServeHTTP implements http.Handler.
func (s *Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(OpenAPIDocument())
	})
	mux.HandleFunc("GET /v1/orders", s.requireKey(s.list))
	mux.HandleFunc("POST /v1/orders", s.requireKey(s.create))
	mux.HandleFunc("PUT /v1/orders/import", s.requireKey(s.createMany))
	mux.HandleFunc("GET /v1/orders/{id}", s.requireKey(s.withOrder(func(*http.Request, *Order) int { return http.StatusOK })))
	mux.HandleFunc("PATCH /v1/orders/{id}", s.requireKey(s.withOrder(note)))
	mux.HandleFunc("DELETE /v1/orders/{id}", s.requireKey(s.deleteOrder))
	mux.HandleFunc("POST /v1/orders/{id}/refund", s.requireKey(s.withOrder(refund)))
	mux.HandleFunc("GET /v1/report/{period}", s.report)
	s.mu.Lock()
	defer s.mu.Unlock()
	mux.ServeHTTP(w, r)
}

// requireKey rejects requests without the key.
func (s *Shop) requireKey(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Shop-Key") != APIKey {
			refuse(w, http.StatusUnauthorized, "the key is wrong")
			return
		}
		next(w, r)
	}
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]string{"error": why})
}

func (s *Shop) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, err := strconv.Atoi(cmp.Or(q.Get("limit"), "20"))
	if err != nil {
		refuse(w, http.StatusBadRequest, "limit is no number")
		return
	}
	ids := strings.FieldsFunc(q.Get("ids"), func(r rune) bool { return r == ',' })
	found := []Order{}
	for _, o := range slices.Backward(s.orders) {
		status, customer := q.Get("filter[status]"), q.Get("filter[customer]")
		switch {
		case status != "" && o.Status != status, customer != "" && o.Customer != customer:
		case len(ids) > 0 && !slices.Contains(ids, strconv.Itoa(o.ID)):
		case len(found) < limit:
			found = append(found, o)
		}
	}
	answer(w, http.StatusOK, found)
}

func (s *Shop) create(w http.ResponseWriter, r *http.Request) {
	var o Order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.Customer == "" || len(o.Lines) == 0 {
		refuse(w, http.StatusBadRequest, "expected a customer and lines")
		return
	}
	answer(w, http.StatusCreated, s.addOrder(Order{Customer: o.Customer, Lines: o.Lines, Request: r.Header.Get("X-Request-Id")}))
}

func (s *Shop) createMany(w http.ResponseWriter, r *http.Request) {
	var all []Order
	if err := json.NewDecoder(r.Body).Decode(&all); err != nil {
		refuse(w, http.StatusBadRequest, "expected a list of orders")
		return
	}
	ids := []int{}
	for _, o := range all {
		ids = append(ids, s.addOrder(Order{Customer: o.Customer, Lines: o.Lines}).ID)
	}
	answer(w, http.StatusOK, ids)
}

// orderIndex returns the index of the request's order, or -1.
func (s *Shop) orderIndex(r *http.Request) int {
	id, _ := strconv.Atoi(r.PathValue("id"))
	return slices.IndexFunc(s.orders, func(o Order) bool { return o.ID == id })
}

// withOrder applies do to the request's order, and returns the order.
func (s *Shop) withOrder(do func(*http.Request, *Order) int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i := s.orderIndex(r)
		if i < 0 {
			refuse(w, http.StatusNotFound, "there is no such order")
			return
		}
		if status := do(r, &s.orders[i]); status != http.StatusOK {
			refuse(w, status, "expected what the document says")
			return
		}
		answer(w, http.StatusOK, s.orders[i])
	}
}

func note(r *http.Request, o *Order) int {
	var body struct{ Note *string }
	if json.NewDecoder(r.Body).Decode(&body) != nil {
		return http.StatusBadRequest
	}
	o.Note = body.Note
	return http.StatusOK
}

func refund(r *http.Request, o *Order) int {
	if r.ParseForm() != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		return http.StatusUnsupportedMediaType
	}
	cents, err := strconv.Atoi(r.PostForm.Get("cents"))
	if err != nil || cents < 1 || o.Refunded+cents > o.cents() {
		return http.StatusUnprocessableEntity
	}
	o.Refunded += cents
	o.Reasons = append(o.Reasons, r.PostForm["reasons"]...)
	o.Status = "refunded"
	return http.StatusOK
}

func (s *Shop) deleteOrder(w http.ResponseWriter, r *http.Request) {
	i := s.orderIndex(r)
	if i < 0 {
		refuse(w, http.StatusNotFound, "there is no such order")
		return
	}
	s.orders = slices.Delete(s.orders, i, i+1)
	w.WriteHeader(http.StatusNoContent)
}

// report needs no key.
func (s *Shop) report(w http.ResponseWriter, r *http.Request) {
	period, labelled := strings.CutPrefix(r.PathValue("period"), ".")
	if !labelled {
		refuse(w, http.StatusBadRequest, "expected months such as .2026-01.2026-02")
		return
	}
	currency := "EUR"
	if c, err := r.Cookie("currency"); err == nil {
		currency = c.Value
	}
	sum, by := 0, make(map[string]int)
	for _, o := range s.orders {
		sum += o.cents()
		for key := range strings.SplitSeq(r.URL.Query().Get("by"), "|") {
			switch key {
			case "status":
				by[o.Status] += o.cents()
			case "customer":
				by[o.Customer] += o.cents()
			}
		}
	}
	answer(w, http.StatusOK, map[string]any{
		"months": strings.Split(period, "."), "currency": currency, "orders": len(s.orders), "cents": sum, "by": by,
	})
}
