package lexicon

import "strings"

// IsClickHere reports whether the name of a link or a button asks to press it and says nothing else, such as "click here".
func IsClickHere(name string) bool { return clickHere.has(linkWords(name)) }

// IsVagueLink reports whether the name of a link does not say where it leads, such as "click here" and "read more".
func IsVagueLink(name string) bool {
	words := linkWords(name)
	return clickHere.has(words) || vagueLinks.has(words)
}

// linkWords returns the name in lower case without the signs around it.
func linkWords(name string) string {
	return strings.ToLower(strings.Trim(strings.Join(strings.Fields(name), " "), " .…!:>»›→"))
}

const clickHere list = "|click here|click|here|tap here|press here|click this|click this link|click me|this link|this|link|" +
	"hier|hier klicken|klicken sie hier|hier klick|ici|cliquez ici|cliquer ici|aquí|haga clic aquí|haz clic aquí|clic aquí|pulse aquí|" +
	"qui|clicca qui|fai clic qui|aqui|clique aqui|klik hier|здесь|тут|нажмите здесь|нажмите сюда|щелкните здесь|тут натисніть|натисніть тут|" +
	"tutaj|kliknij tutaj|kliknij tu|zde|klikněte zde|kliknite sem|ide kattintson|kattintson ide|itt|här|klicka här|her|klik her|klikk her|" +
	"tästä|klikkaa tästä|buraya tıklayın|tıklayın|buradan|εδώ|πατήστε εδώ|κάντε κλικ εδώ|aici|clic aici|apăsați aici|feu clic aquí|" +
	"点击这里|点此|单击此处|点击此处|這裡|點擊這裡|按此|点这里|こちら|ここをクリック|こちらをクリック|여기|여기를 클릭|여기를 클릭하세요|" +
	"לחץ כאן|לחצו כאן|כאן|انقر هنا|اضغط هنا|هنا|اینجا کلیک کنید|यहाँ क्लिक करें|यहां क्लिक करें|bấm vào đây|nhấp vào đây|tại đây|klik di sini|di sini|คลิกที่นี่|ที่นี่|"

const vagueLinks list = "|more|read more|learn more|see more|view more|show more|find out more|more info|more information|details|continue reading|" +
	"mehr|mehr erfahren|weiterlesen|mehr lesen|weitere informationen|en savoir plus|lire la suite|plus|plus d'infos|voir plus|" +
	"más|leer más|ver más|más información|saber más|di più|leggi tutto|scopri di più|continua a leggere|altro|mais|saiba mais|leia mais|ler mais|" +
	"meer|lees meer|meer lezen|meer informatie|подробнее|далее|читать далее|ещё|детальніше|докладніше|więcej|czytaj więcej|dowiedz się więcej|" +
	"více|číst dále|více informací|viac|čítať ďalej|tovább|bővebben|läs mer|mer|læs mere|les mer|mere|lue lisää|lisää|devamı|daha fazla|devamını oku|" +
	"περισσότερα|διαβάστε περισσότερα|mai mult|citește mai mult|llegir més|més informació|更多|阅读更多|了解更多|详情|查看详情|閱讀更多|了解詳情|" +
	"詳しく|続きを読む|もっと見る|詳細|詳しくはこちら|더 보기|자세히|자세히 보기|더 알아보기|קרא עוד|עוד|מידע נוסף|المزيد|اقرأ المزيد|معرفة المزيد|ادامه مطلب|بیشتر|" +
	"और पढ़ें|अधिक जानें|xem thêm|đọc thêm|tìm hiểu thêm|selengkapnya|baca selengkapnya|อ่านต่อ|อ่านเพิ่มเติม|"
