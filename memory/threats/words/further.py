"""Languages of which only the plainest order is known: to ignore all previous instructions."""

GREEK = {
    "displace": "αγνόησε αγνοήστε αγνοείστε ξέχνα ξέχασε ξεχάστε παράβλεψε παραβλέψτε",
    "prior": "προηγούμεν* παραπάνω",
    "all": "όλες όλους όλα κάθε",
    "orders": "οδηγίες οδηγιών εντολές εντολών",
}

SWEDISH = {
    "displace": "ignorera bortse strunta glöm åsidosätt",
    "prior": "tidigare föregående ovanstående",
    "all": "alla samtliga",
    "orders": "instruktion* anvisning* direktiv direktiven",
}

CZECH = {
    "displace": "ignoruj ignorujte zapomeň zapomeňte",
    "prior": "předchozí předchozích předešlé předešlých",
    "all": "všechny veškeré",
    "orders": "instrukc* pokyn pokyny pokynů příkazy",
}

INDONESIAN = {
    "displace": "abaikan lupakan",
    "prior": "sebelumnya terdahulu",
    "all": "semua seluruh segala",
    "orders": "instruksi perintah petunjuk arahan",
}

# Of "bỏ qua" and "hướng dẫn" only the half that no other language has.
VIETNAMESE = {
    "displace": "qua quên",
    "prior": "trước",
    "all": "tất mọi",
    "orders": "hướng lệnh thị",
}

HEBREW = {
    "displace": "התעלם התעלמי התעלמו תתעלם תתעלמי שכח שכחי",
    "prior": "הקודמות הקודם הקודמים",
    "all": "כל מכל",
    "orders": "ההוראות הוראות מההוראות ההנחיות הנחיות מההנחיות",
}

PERSIAN = {
    "displaceend": "نادیده فراموش",
    "prior": "قبلی پیشین بالا",
    "all": "تمام تمامی همه کلیه",
    "orders": "دستورالعمل* دستورات دستورهای",
}
