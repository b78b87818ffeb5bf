package lexicon

import (
	"strings"
	"unicode"
)

// IsSaveLabel reports whether a label or title is about saving.
func IsSaveLabel(label string) bool { return hasWord(label, saves) }

// IsOpenLabel reports whether a label or title is about opening or choosing.
func IsOpenLabel(label string) bool { return hasWord(label, opens) }

// IsCancelLabel reports whether a label leaves a dialog without effect.
func IsCancelLabel(label string) bool { return hasWord(label, cancels) }

// IsSettingsTitle reports whether a title names settings.
func IsSettingsTitle(title string) bool { return hasWord(title, settings) }

// IsErrorText reports whether a title or message reports an error or warns.
func IsErrorText(text string) bool { return hasWord(text, faults) || strings.Contains(text, "ERR_") }

// IsLoadingText reports whether a text says that something is being loaded.
func IsLoadingText(text string) bool { return hasWord(text, loads) }

// hasWord reports whether one of the words of the text is in the list, or one of its entries in the text, where a
// language does not separate words.
func hasWord(text string, words list) bool {
	text = strings.ToLower(text)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) }) {
		if words.has(word) {
			return true
		}
	}
	for entry := range strings.SplitSeq(string(words), "|") {
		if entry != "" && (entry[0] >= 0xe0 || strings.Contains(entry, " ")) && strings.Contains(text, entry) {
			return true
		}
	}
	return false
}

const (
	saves list = "|save|export|speichern|exportieren|enregistrer|sauvegarder|exporter|guardar|gravar|salvar|exportar|salva|esporta|opslaan|exporteren|сохранить|экспорт|зберегти|" +
		"zapisz|uložit|uložiť|spara|gem|lagre|tallenna|kaydet|mentés|salvează|αποθήκευση|simpan|lưu|保存|存储|儲存|另存|저장|حفظ|שמירה|सहेजें|บันทึก|"
	opens list = "|open|choose|select|import|browse|öffnen|auswählen|importieren|ouvrir|choisir|abrir|elegir|seleccionar|selecionar|apri|scegli|openen|kiezen|открыть|выбрать|відкрити|" +
		"otwórz|wybierz|otevřít|otvoriť|öppna|välj|åbn|vælg|åpne|velg|avaa|valitse|aç|seç|megnyitás|deschide|άνοιγμα|buka|mở|打开|打開|開啟|選択|開く|选择|選擇|열기|선택|فتح|פתיחה|खोलें|เปิด|"
	cancels list = "|cancel|close|abbrechen|schließen|annuler|fermer|cancelar|cerrar|fechar|annulla|chiudi|annuleren|sluiten|отмена|скасувати|anuluj|zrušit|zrušiť|avbryt|annuller|peruuta|iptal|mégse|" +
		"anulează|anulare|ακύρωση|batal|hủy|取消|キャンセル|취소|إلغاء|ביטול|रद्द|ยกเลิก|"
	settings list = "|settings|preferences|options|configure|configuration|setup|einstellungen|optionen|konfigurieren|konfiguration|préférences|paramètres|options|configurer|preferencias|ajustes|" +
		"configuración|opciones|preferenze|impostazioni|opzioni|preferências|definições|configurações|opções|voorkeuren|instellingen|opties|настройки|параметры|налаштування|preferencje|ustawienia|opcje|" +
		"předvolby|nastavení|nastavenia|inställningar|alternativ|indstillinger|innstillinger|asetukset|ayarlar|tercihler|beállítások|setări|preferințe|ρυθμίσεις|προτιμήσεις|pengaturan|cài đặt|" +
		"设置|首选项|偏好|選項|设定|設定|環境設定|설정|환경설정|الإعدادات|הגדרות|सेटिंग्स|ตั้งค่า|"
	faults list = "|error|errors|warning|failed|failure|failing|critical|crashed|unreachable|invalid|denied|refused|restricted|unavailable|404|500|502|503|" +
		"fehler|warnung|fehlgeschlagen|erreur|avertissement|attention|échec|échoué|advertencia|aviso|falló|fallo|errore|avviso|avvertimento|fallito|erro|falhou|fout|waarschuwing|mislukt|" +
		"ошибка|предупреждение|помилка|попередження|błąd|ostrzeżenie|chyba|varování|varovanie|fel|varning|fejl|advarsel|feil|virhe|varoitus|hata|uyarı|hiba|figyelmeztetés|eroare|avertisment|σφάλμα|προειδοποίηση|" +
		"kesalahan|lỗi|错误|警告|錯誤|失败|失敗|エラー|오류|경고|خطأ|تحذير|שגיאה|אזהרה|त्रुटि|चेतावनी|ข้อผิดพลาด|คำเตือน|" +
		"not found|can't be reached|cannot be reached|unable to connect|does not exist|problem loading|connection refused|went wrong|server not found|try again later|"
	loads list = "|loading|please wait|wird geladen|bitte warten|chargement|veuillez patienter|cargando|espere|caricamento|attendere|carregando|aguarde|laden|загрузка|подождите|завантаження|" +
		"ładowanie|wczytywanie|načítání|laddar|indlæser|laster|ladataan|yükleniyor|betöltés|se încarcă|φόρτωση|memuat|đang tải|加载|載入|正在加载|読み込み中|로드 중|불러오는|جار التحميل|טוען|लोड|กำลังโหลด|"
)
