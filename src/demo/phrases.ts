/** What people of one language are called and write; `{n}` in a sentence becomes a number. */
interface Language {
  given: readonly string[]
  family: readonly string[]
  sentences: readonly string[]
  /** What stands between two sentences: Chinese and Japanese use no space. */
  gap: string
}

export const languages: readonly Language[] = [
  {
    given: ['Alice', 'Brian', 'Chloe', 'Daniel', 'Grace', 'Hugh', 'Niamh', 'Zoë'],
    family: ["O'Brien", 'Smith', 'Taylor', 'Okafor', 'Nguyễn', 'García-López', 'Brown'],
    sentences: [
      'Please check the total on page {n}.',
      'I think this paragraph repeats section {n}.',
      'Looks good to me.',
      'Can we move this to week {n}?',
      'The figure should say {n} %, see the sheet.',
      'If a < b && b > {n}, this breaks & we lose "quotes".',
      'Agreed, done in revision {n}.',
      'Who owns this number?',
      'Blocked until ticket {n} is closed.',
      'Thanks, resolved 👍',
    ],
    gap: ' ',
  },
  {
    given: ['Jürgen', 'Élise', 'Søren', 'Łukasz', 'Ángel', 'Ştefan'],
    family: ['Müller', 'Dvořák', 'Lefèvre', 'Østergård', 'Muñoz', 'Çelik'],
    sentences: [
      'Bitte auf Seite {n} prüfen, die Größe stimmt nicht.',
      "C'est noté, à vérifier d'ici {n} jours.",
      '¿Podemos añadir la cláusula {n} aquí?',
      'Proszę poprawić rozdział {n}, są tu błędy.',
      'Das gefällt mir so.',
      'Det här är klart, se punkt {n}.',
    ],
    gap: ' ',
  },
  {
    given: ['Анна', 'Дмитрий', 'Ольга', 'Сергій', 'Мария'],
    family: ['Иванова', 'Петренко', 'Соколов', 'Ковачевић', 'Đorđević'],
    sentences: [
      'Проверьте, пожалуйста, пункт {n}.',
      'Согласен, можно закрывать.',
      'Сумма на странице {n} не сходится.',
      'Перенесём это на {n}-е число?',
      'Спасибо, исправлено в версии {n}.',
      'Кто за это отвечает?',
    ],
    gap: ' ',
  },
  {
    given: ['Γιώργος', 'Ελένη', 'Νίκος', 'Μαρία'],
    family: ['Παπαδόπουλος', 'Οικονόμου', 'Νικολάου'],
    sentences: [
      'Παρακαλώ ελέγξτε τη σελίδα {n}.',
      'Συμφωνώ, προχωράμε.',
      'Το σύνολο στην ενότητα {n} είναι λάθος.',
      'Να το δούμε ξανά σε {n} μέρες;',
    ],
    gap: ' ',
  },
  {
    given: ['أحمد', 'فاطمة', 'يوسف', 'ليلى'],
    family: ['المصري', 'حداد', 'بن علي'],
    sentences: [
      'يرجى مراجعة الصفحة {n}.',
      'موافق، يمكن الإغلاق.',
      'الرقم {n} غير صحيح هنا.',
      'هل يمكن تأجيل هذا إلى الأسبوع {n}؟',
    ],
    gap: ' ',
  },
  {
    given: ['דוד', 'שרה', 'נועה', 'יוסי'],
    family: ['כהן', 'לוי', 'מזרחי'],
    sentences: [
      'נא לבדוק את עמוד {n}.',
      'מסכים, אפשר לסגור.',
      'הסכום בסעיף {n} שגוי.',
      'מי אחראי על זה?',
    ],
    gap: ' ',
  },
  {
    given: ['आरव', 'प्रिया', 'रोहन', 'सुनीता'],
    family: ['शर्मा', 'पटेल', 'गुप्ता'],
    sentences: [
      'कृपया पृष्ठ {n} की जाँच करें।',
      'सहमत हूँ, आगे बढ़ते हैं।',
      'अनुभाग {n} में योग गलत है।',
      'धन्यवाद, संस्करण {n} में ठीक कर दिया।',
    ],
    gap: ' ',
  },
  {
    given: ['伟', '芳', '秀英', '敏', '𠮷'],
    family: ['王', '李', '张', '欧阳'],
    sentences: [
      '请检查第{n}页的合计。',
      '同意，可以关闭了。',
      '这里的数字{n}不对。',
      '能推迟到第{n}周吗？',
      '谢谢，已在第{n}版修正。',
    ],
    gap: '',
  },
  {
    given: ['太郎', '花子', 'さくら', 'ケンジ'],
    family: ['佐藤', '鈴木', '髙橋'],
    sentences: [
      '{n}ページを確認してください。',
      'これで問題ありません。',
      'セクション{n}の合計が違います。',
      '第{n}週に延期できますか？',
    ],
    gap: '',
  },
  {
    given: ['민준', '서연', '지훈', '하은'],
    family: ['김', '이', '박'],
    sentences: [
      '{n}페이지를 확인해 주세요.',
      '동의합니다. 닫아도 됩니다.',
      '{n}절의 합계가 맞지 않습니다.',
      '{n}주차로 미룰 수 있을까요?',
    ],
    gap: ' ',
  },
]

/** Ends some comments; the family and the flag are several code points that show as one sign. */
export const emoji: readonly string[] = ['👍', '🎉', '👩‍👩‍👧‍👦', '🇺🇦', '❤️', '🤷🏽‍♀️']
